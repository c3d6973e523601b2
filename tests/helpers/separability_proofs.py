"""Answers about separability checked in the standard library's fractions, without any of polyfold's arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from helpers.separability_oracles import added, fractions, mean, times, weighted

ZERO, ONE = Fraction(0), Fraction(1)


class Sequence:
    """Labelled points with exact means and centre."""

    def __init__(self, X, y, centre=None):
        self.points, self.y = fractions(X), list(y)
        self.labels = sorted(set(self.y))
        self.rows = {label: [k for k, other in enumerate(self.y) if other == label] for label in self.labels}
        self.means = {label: mean([self.points[k] for k in self.rows[label]]) for label in self.labels}
        given = None if centre is None else fractions([centre])[0]
        self.centre = given or mean([self.means[label] for label in self.labels])

    def place(self, label, s):
        return added(times(1 - s, self.centre), times(s, self.means[label]))

    def steps_hold(self, steps):
        """The definition, word for word."""
        assert sorted(step.label for step in steps) == self.labels
        before = []
        for j, step in enumerate(steps):
            mu = Fraction(step.mu)
            assert 0 < mu < 1
            point = self.place(step.label, 1 - mu)
            (normal,) = fractions([step.normal])
            later = [self.points[k] for other in steps[j + 1 :] for k in self.rows[other.label]]
            assert all(self._side(normal, self.points[k], point) < 0 for k in self.rows[step.label])
            assert all(self._side(normal, x, point) > 0 for x in [*before, *later])
            assert np.allclose(step.point, [float(entry) for entry in point], rtol=1e-12, atol=1e-12)
            before.append(point)

    def no_order_works(self, dead_ends):
        """That every order begins with a dead end, from the certificates alone."""
        ends = {end.order: end for end in dead_ends}
        assert len(ends) == len(dead_ends)
        self._dead(ends, ())

    def _dead(self, ends, order):
        end = ends[order]
        self._limits_hold(end.before)
        left = [label for label in self.labels if label not in order]
        if end.worse_than is not None:
            other = ends[end.worse_than]
            then, now = ({p.label: p.least for p in e.before} for e in (other, end))
            assert other.worse_than is None and then.keys() == now.keys() and all(then[k] <= now[k] for k in now)
            self._dead(ends, end.worse_than)
            return
        if end.without_loss is not None:
            child = ends[(*order, end.without_loss)]
            assert child.before[-1].least == 0 and child.before[-1].normal is not None
            self._dead(ends, child.order)
            return
        blocked = {obstacle.label: obstacle for obstacle in end.blocked}
        for obstacle in end.blocked:
            self._blocks(obstacle, end.before, left)
        if any(not obstacle.others for obstacle in end.blocked):
            return  # the centre and points that are there already will always be in the way of this class
        for label in left:
            if label not in blocked:
                self._dead(ends, (*order, label))

    def _limits_hold(self, before):
        for j, point in enumerate(before):
            earlier = {p.label: p.least for p in before[:j]}
            later = [
                k for label in self.labels if label not in earlier and label != point.label for k in self.rows[label]
            ]
            if point.normal is not None:
                assert point.least == 0
                (normal,) = fractions([point.normal])
                others = [self.points[k] for k in later] + [self.place(k, s) for k, s in earlier.items()]
                assert all(self._side(normal, self.points[k], self.centre) <= 0 for k in self.rows[point.label])
                assert all(self._side(normal, x, self.centre) >= 0 for x in others)
                assert self._side(normal, self.means[point.label], self.centre) < 0
                continue
            assert 0 <= point.least < 1
            assert set(point.own) <= set(self.rows[point.label]) and set(point.others) <= set(later)
            self._positive(point.own, point.others, point.earlier, {None: point.centre})
            left = added(self.place(point.label, point.least), weighted(self.points, point.own))
            assert left == self._others(point, earlier)
            total = point.centre + sum(point.others.values()) + sum(point.earlier.values())
            assert total == 1 + sum(point.own.values())

    def _blocks(self, obstacle, before, left):
        earlier = {p.label: p.least for p in before}
        allowed = {k for label in left if label != obstacle.label for k in self.rows[label]}
        assert set(obstacle.own) <= set(self.rows[obstacle.label]) and set(obstacle.others) <= allowed
        self._positive(obstacle.own, obstacle.others, obstacle.earlier, {None: obstacle.centre})
        assert sum(obstacle.own.values()) == 1
        assert obstacle.centre + sum(obstacle.others.values()) + sum(obstacle.earlier.values()) == 1
        assert weighted(self.points, obstacle.own) == self._others(obstacle, earlier)

    def _others(self, found, earlier):
        points = {label: self.place(label, earlier[label]) for label in found.earlier}
        total = added(weighted(self.points, found.others), times(found.centre, self.centre))
        return added(total, *(times(weight, points[label]) for label, weight in found.earlier.items()))

    @staticmethod
    def _positive(*weights):
        assert all(value >= 0 for part in weights for value in part.values())

    @staticmethod
    def _side(normal, x, point):
        return sum((n * (a - b) for n, a, b in zip(normal, x, point, strict=True)), ZERO)


def polyhedron_holds(found, X, y):
    """Weights and bias as they are: all entries negative for the inner class, one positive for the other."""
    weights, (bias,) = fractions(found.weights), fractions([found.bias])
    for x, label in zip(fractions(X), y, strict=True):
        values = [sum((w * a for w, a in zip(row, x, strict=True)), b) for row, b in zip(weights, bias, strict=True)]
        assert all(value < 0 for value in values) if label == found.inside else any(value > 0 for value in values)


def no_polyhedron(found, X, y, most, inside=None):
    """That the obstacles leave no way to share the outer points out among so many half-spaces, by trying all."""
    points = fractions(X)
    for label in set(y) if inside is None else inside:
        edges = []
        for obstacle in (o for o in found.group_obstacles if o.inside == label):
            assert all(y[k] == label for k in obstacle.own) and all(y[k] != label for k in obstacle.others)
            assert sum(obstacle.own.values()) == sum(obstacle.others.values()) == 1
            assert all(w > 0 for part in (obstacle.own, obstacle.others) for w in part.values())
            assert weighted(points, obstacle.own) == weighted(points, obstacle.others)
            edges.append(frozenset(obstacle.others))
        joint = []
        for obstacle in (o for o in found.facet_obstacles if o.inside == label):
            moves = []
            for group, own, others in zip(obstacle.groups, obstacle.own, obstacle.others, strict=True):
                assert set(others) <= group and all(y[k] == label for k in own)
                assert all(w > 0 for part in (own, others) for w in part.values())
                assert sum(own.values(), ZERO) == sum(others.values(), ZERO)
                minus = {k: -w for k, w in own.items()}
                moves.append(added(weighted(points, others), weighted(points, minus)))
            assert any(obstacle.own) and all(move == moves[0] for move in moves)
            joint.append(obstacle.groups)
        involved = sorted(set().union(*edges, *(group for groups in joint for group in groups)))
        assert involved, "nothing is in the way"
        for choice in product(range(most), repeat=len(involved)):
            groups = [frozenset(k for k, c in zip(involved, choice, strict=True) if c == g) for g in range(most)]
            if any(edge <= group for edge in edges for group in groups):
                continue
            assert any(_fits(parts, groups) for parts in joint), f"{groups} is not refuted"


def _fits(parts, groups):
    """Whether each part lies in a group of its own."""
    if not parts:
        return True
    return any(parts[0] <= group and _fits(parts[1:], groups[:g] + groups[g + 1 :]) for g, group in enumerate(groups))
