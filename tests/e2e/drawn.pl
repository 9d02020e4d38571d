#!/usr/bin/perl
# SPDX-License-Identifier: BSD-3-Clause
# Draws small instances for the programs in apps/, and compares each answer with one that is found by trying all. Usage:
#   drawn.pl BIN FOLDER SEED N    (BIN: the programs; FOLDER: for the instances; N of each kind)
use strict;
use warnings;

my ($bin, $folder, $seed, $times) = @ARGV;
srand $seed;
my $number = 0;

sub upto { my ($n) = @_; return int (rand ($n)); } # 0 … n - 1

sub least { my ($a, $b) = @_; return !defined $a || $b < $a ? $b : $a; }

sub file {
  my ($name, @lines) = @_;
  my $path = "$folder/$name";
  open my $to, '>', $path or die "drawn: cannot write '$path': $!\n";
  print $to map { "$_\n" } @lines;
  close $to or die "drawn: cannot write '$path': $!\n";
  return $path;
}

# Calls $act->() with each order of @rest behind @$so_far.
sub orders {
  my ($act, $so_far, @rest) = @_;
  return $act->(@$so_far) unless @rest;
  for my $i (0 .. $#rest) {
    my @others = @rest;
    my ($next) = splice @others, $i, 1;
    orders ($act, [@$so_far, $next], @others);
  }
  return;
}

# ---- one instance of each kind: the words of the command, and the first line of the answer ----

sub clique {
  my $n = 2 + upto (12);
  my $part = 0.3 + rand (0.7);
  my (@edges, @joined);
  for my $i (1 .. $n) {
    for my $j (1 .. $i - 1) {
      next unless rand () < $part;
      push @edges, "e $i $j";
      $joined[$i][$j] = $joined[$j][$i] = 1;
    }
  }
  my $most = 0;
  my $grow;
  $grow = sub {
    my ($size, @may) = @_;
    $most = $size if $size > $most;
    while (@may) {
      my $v = shift @may;
      $grow->($size + 1, grep { $joined[$v][$_] } @may);
    }
  };
  $grow->(0, 1 .. $n);
  return ([file ('graph.clq', 'c drawn', 'c 2 comments', "p edge $n " . @edges, @edges)], "clique $most");
}

# Hundredths as a decimal number, with as few digits as it needs, or with more.
sub decimal {
  my ($hundredths) = @_;
  my $text = sprintf ('%d.%02d', int ($hundredths / 100), $hundredths % 100);
  $text =~ s/\.?0+$// if $text =~ /\./ && rand () < 0.7;
  return $text;
}

# Both forms of the file, some with decimal points. Half of them can be filled to the brim.
sub knapsack {
  my $n = 1 + upto (12);
  my ($is_labelled, $is_decimal) = (rand () < 0.5, rand () < 0.5);
  my $most_of_one = rand () < 0.5 ? 10 : 1000;
  my @value = map { upto ($most_of_one) } 1 .. $n;
  my @weight = map { upto ($most_of_one) } 1 .. $n;
  @value = map { $_ + 1 } @weight if rand () < 0.4; # none is much better than another
  my $capacity = upto ($most_of_one / 2 * $n);
  if (rand () < 0.5) {
    $capacity = 0;
    $capacity += $_ for grep { rand () < 0.5 } @weight;
  }
  my $most = 0;
  for my $set (0 .. 2**$n - 1) {
    my ($v, $w) = (0, 0);
    for my $i (grep { $set >> $_ & 1 } 0 .. $n - 1) { $v += $value[$i]; $w += $weight[$i]; }
    $most = $v if $w <= $capacity && $v > $most;
  }
  my $say = $is_decimal ? \&decimal : sub { return $_[0] };
  my @values = map { $say->($_) } @value;
  my @items = map { "$values[$_] " . $say->($weight[$_]) } 0 .. $n - 1;
  my @lines = $is_labelled ? ($n, (map { (7 + $_) . " $items[$_]" } 0 .. $n - 1), $say->($capacity)) : ("$n " . $say->($capacity), @items);
  my $digits = 0;
  for (@values) { $digits = length $1 if /\.(\d+)/ && length $1 > $digits; }
  return ([file ('items.txt', @lines)], 'value ' . ($is_decimal ? sprintf ("%.${digits}f", $most / 100) : $most));
}

sub sat {
  my $n = 2 + upto (8);
  my @clauses = map { [map { (1 + upto ($n)) * (rand () < 0.5 ? 1 : -1) } 1 .. 1 + upto (3)] } 1 .. 1 + upto (4 * $n);
  my $holds = 0;
  for my $model (0 .. 2**$n - 1) {
    my $all = 1;
    for my $clause (@clauses) {
      my $any = grep { ($model >> abs ($_) - 1 & 1) == ($_ > 0) } @$clause;
      $all = 0, last unless $any;
    }
    $holds = 1, last if $all;
  }
  return ([file ('formula.cnf', 'c drawn', 'c 2 comments', "p cnf $n " . @clauses, map { "@$_ 0" } @clauses)],
    $holds ? 's SATISFIABLE' : 's UNSATISFIABLE');
}

# Of the tour of all cities from the first one.
sub shortest {
  my ($n, @far) = @_;
  my $shortest;
  orders (sub {
    my ($sum, $at) = (0, 0);
    for my $next (@_, 0) { $sum += $far[$at][$next]; $at = $next; }
    $shortest = least ($shortest, $sum);
  }, [], 1 .. $n - 1);
  return $shortest;
}

sub tsp {
  my $n = 3 + upto (5);
  my $is_directed = rand () < 0.5;
  my @far;
  for my $i (0 .. $n - 1) {
    $far[$i][$i] = 0;
    for my $j (0 .. $i - 1) {
      $far[$i][$j] = upto (rand () < 0.2 ? 3 : 200);
      $far[$j][$i] = $is_directed ? upto (200) : $far[$i][$j];
    }
  }
  my @head = ('NAME: drawn', 'TYPE: ' . ($is_directed ? 'ATSP' : 'TSP'), "DIMENSION: $n", 'EDGE_WEIGHT_TYPE: EXPLICIT',
    'EDGE_WEIGHT_FORMAT: FULL_MATRIX', 'EDGE_WEIGHT_SECTION');
  return ([file ($is_directed ? 'cities.atsp' : 'cities.tsp', @head, map { "@$_" } @far)], 'length ' . shortest ($n, @far));
}

sub qap {
  my $n = 3 + upto (4);
  my $is_symmetric = rand () < 0.5;
  my @both;
  for my $which (0, 1) {
    for my $i (0 .. $n - 1) {
      for my $j (0 .. $i) {
        $both[$which][$i][$j] = $i == $j && rand () < 0.5 ? 0 : upto (9);
        $both[$which][$j][$i] = $is_symmetric ? $both[$which][$i][$j] : upto (9) if $i != $j;
      }
    }
  }
  my $cheapest;
  orders (sub {
    my $sum = 0;
    for my $i (0 .. $n - 1) { $sum += $both[0][$i][$_] * $both[1][$_[$i]][$_[$_]] for 0 .. $n - 1; }
    $cheapest = least ($cheapest, $sum);
  }, [], 0 .. $n - 1);
  return ([file ('plan.dat', '# drawn', '# 2 comments', $n, map { "@$_" } @{ $both[0] }, @{ $both[1] })], "cost $cheapest");
}

sub jobshop {
  my ($jobs, $machines) = (2 + upto (2), 2 + upto (2));
  my @tasks = map { my @left = 0 .. $machines - 1; [map { [splice (@left, upto (scalar @left), 1), 1 + upto (20)] } 1 .. $machines] } 1 .. $jobs;
  my $soonest;
  my $go;
  $go = sub { # every order in which the tasks may begin
    my ($done, $free, $ready, $last) = @_;
    my $any = 0;
    for my $j (grep { $done->[$_] < $machines } 0 .. $jobs - 1) {
      my ($machine, $time) = @{ $tasks[$j][$done->[$j]] };
      my @done = @$done;
      my @free = @$free;
      my @ready = @$ready;
      my $end = ($free[$machine] > $ready[$j] ? $free[$machine] : $ready[$j]) + $time;
      $any = 1;
      $done[$j]++;
      $free[$machine] = $ready[$j] = $end;
      $go->(\@done, \@free, \@ready, $end > $last ? $end : $last);
    }
    $soonest = least ($soonest, $last) unless $any;
  };
  $go->([(0) x $jobs], [(0) x $machines], [(0) x $jobs], 0);
  return ([file ('shop.txt', "$jobs $machines", map { join ' ', map { "@$_" } @$_ } @tasks)], "makespan $soonest");
}

# Boards by the number of moves that they need, from the goal on.
my @boards = (['0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15']);

sub deeper {
  my %seen = map { $_ => 1 } map { @$_ } @boards;
  my @next;
  for my $text (@{ $boards[-1] }) {
    my @tile = split / /, $text;
    my ($blank) = grep { $tile[$_] == 0 } 0 .. 15;
    for my $step (-4, -1, 1, 4) {
      my $to = $blank + $step;
      next if $to < 0 || $to > 15 || (abs ($step) == 1 && int ($to / 4) != int ($blank / 4));
      my @moved = @tile;
      @moved[$blank, $to] = @moved[$to, $blank];
      push @next, "@moved" unless $seen{"@moved"}++;
    }
  }
  push @boards, \@next;
  return;
}

# How far the tiles of a board are from their places: the first threshold.
sub distance {
  my @tile = split / /, $_[0];
  my $sum = 0;
  for my $cell (grep { $tile[$_] } 0 .. 15) {
    $sum += abs (int ($cell / 4) - int ($tile[$cell] / 4)) + abs ($cell % 4 - $tile[$cell] % 4);
  }
  return $sum;
}

# Of some boards the one that needs the most thresholds.
sub puzzle15 {
  deeper () while @boards < 14;
  my $length = upto (scalar @boards);
  my @all = @{ $boards[$length] };
  my ($board) = sort { distance ($a) <=> distance ($b) || $a cmp $b } map { $all[upto (scalar @all)] } 1 .. 30;
  return ([file ('board.txt', $board)], qr/^length $length nodes \d+$/);
}

sub primes {
  # The widest gap of the last kind lies in both halves of the numbers, which are different jobs.
  my $n = rand () < 0.3 ? 1 + upto (30) : rand () < 0.7 ? 1 + upto (300000) : 311850 + upto (150);
  my @records = (2, 4, 6, 8, 14, 18, 20, 22, 34, 36, 44, 52, 72, 86); # each first gap that is wider than all before
  my $width = rand () < 0.5 ? 0 : rand () < 0.5 ? 1 + upto (90) : $records[upto (scalar @records)];
  my @no = (1, 1);
  my ($count, $before, $gap, $behind) = (0, undef, 0, 0);
  for my $i (2 .. $n - 1) {
    next if $no[$i];
    for (my $m = $i * $i; $m < $n; $m += $i) { $no[$m] = 1; }
    $count++;
    if (defined $before && $i - $before > $gap && (!$width || ($gap == 0 && $i - $before >= $width))) {
      ($gap, $behind) = ($i - $before, $before);
    }
    $before = $i;
  }
  my $text = $gap ? "gap $gap behind $behind" : 'gap none';
  return ([$n, $width ? ('--gap', $width) : ()], $width ? $text : "primes $count $text");
}

sub nqueens {
  my @known = (1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200);
  my $n = 1 + upto (scalar @known);
  return ([$n], $known[$n - 1]);
}

sub fib {
  my $n = upto (24);
  my ($a, $b) = (0, 1);
  ($a, $b) = ($b, $a + $b) for 1 .. $n;
  return ([$n], $a);
}

sub life {
  my ($side, $generations) = (3 + upto (8), 1 + upto (30));
  my @rows = map { join '', map { rand () < 0.4 ? 'o' : 'b' } 1 .. $side } 1 .. $side;
  my %alive;
  for my $y (0 .. $side - 1) { $alive{"$_ $y"} = 1 for grep { substr ($rows[$y], $_, 1) eq 'o' } 0 .. $side - 1; }
  for (1 .. $generations) {
    my %near;
    for my $cell (keys %alive) {
      my ($x, $y) = split / /, $cell;
      for my $dx (-1 .. 1) { $near{ ($x + $dx) . ' ' . ($y + $_) }++ for grep { $dx || $_ } -1 .. 1; }
    }
    %alive = map { $_ => 1 } grep { $near{$_} == 3 || ($near{$_} == 2 && $alive{$_}) } keys %near;
  }
  return ([file ('cells.rle', "x = $side, y = $side, rule = B3/S23", join ('$', @rows) . '!'), $generations],
    "generation $generations population " . keys %alive);
}

my %kinds = (clique => \&clique, knapsack => \&knapsack, sat => \&sat, tsp => \&tsp, qap => \&qap, jobshop => \&jobshop,
  puzzle15 => \&puzzle15, primes => \&primes, nqueens => \&nqueens, fib => \&fib, life => \&life);
my %often = (knapsack => 5, clique => 2, sat => 2, primes => 2, puzzle15 => 2); # these are small
for my $app (sort keys %kinds) {
  my $good = 1;
  my $n = $times * ($often{$app} // 1);
  for my $i (1 .. $n) {
    my ($words, $wanted) = $kinds{$app}->();
    open my $from, '-|', "$bin/$app", @$words, '--workers', 2 or die "drawn: cannot run '$bin/$app': $!\n";
    my @lines = <$from>;
    my $is_over = close $from;
    my $answer = $lines[0] // '';
    chomp $answer;
    next if $is_over && (ref $wanted ? $answer =~ $wanted : $answer eq $wanted);
    $good = 0;
    print "# $app @$words: '$answer', not '$wanted' (instance $i of seed $seed)\n";
    print map { "#   $_" } do { open my $file, '<', $words->[0] or last; <$file> } if -f $words->[0];
    last;
  }
  printf "%sok %d - %s: %d drawn instances have the answer that trying all finds\n", $good ? '' : 'not ', ++$number, $app, $n;
}
print "1..$number\n";
