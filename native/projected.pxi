# Where linear sums hold: projections, chords, climbs; twins: space/projection.py, space/chords.py, maximize/climb.py.

cdef double LEFT = 1e-13
cdef double STILL = 1e-12
cdef double SHORTEST = 1e-10
cdef double LONGEST = 1e10

cdef enum:
    LOOKED_BACK = 10


cdef struct Breakpoint:
    # A multiplier at which a column begins or ceases to move, and what that adds to the slope of the sum.
    double at
    double slope


cdef void sift(Breakpoint *points, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
    """Let an entry sink to its place in a heap. Numbers that cannot be compared end anywhere, but within it."""
    cdef Breakpoint moved = points[i]
    cdef Py_ssize_t child
    while 2 * i + 1 < count:
        child = 2 * i + 1
        if child + 1 < count and points[child].at < points[child + 1].at:
            child += 1
        if not moved.at < points[child].at:
            break
        points[i] = points[child]
        i = child
    points[i] = moved


cdef void sort_breakpoints(Breakpoint *points, Py_ssize_t count) noexcept nogil:
    cdef Breakpoint last
    cdef Py_ssize_t i
    for i in range(count // 2 - 1, -1, -1):
        sift(points, i, count)
    for i in range(count - 1, 0, -1):
        last, points[i] = points[i], points[0]
        points[0] = last
        sift(points, 0, i)


cdef double clipped(double x, double low, double high) noexcept nogil:
    return min(max(x, low), high)


cdef class Sums:
    """Rules low ≤ A x ≤ high on d columns, of which each is in one sum at most."""

    cdef readonly Py_ssize_t dim
    cdef Py_ssize_t count
    cdef Py_ssize_t[::1] starts  # the first of the columns of each sum, and the end of the last one's
    cdef Py_ssize_t[::1] columns
    cdef double[::1] a
    cdef double[::1] low, high

    def __cinit__(self, const double[:, ::1] A not None, const double[::1] low not None,
                  const double[::1] high not None):
        cdef Py_ssize_t r, c, used = 0
        if low.shape[0] != A.shape[0] or high.shape[0] != A.shape[0]:
            raise ValueError("the rules differ in number from their bounds")
        self.dim, self.count = A.shape[1], A.shape[0]
        self.low, self.high = np.array(low), np.array(high)
        self.starts = np.zeros(plus(self.count, 1), dtype=np.intp)
        self.columns, self.a = np.empty(self.dim, dtype=np.intp), np.empty(self.dim)
        taken = np.zeros(self.dim, dtype=np.uint8)
        cdef unsigned char[::1] is_taken = taken
        for r in range(self.count):
            for c in range(self.dim):
                if A[r, c] != 0.0:
                    if is_taken[c]:
                        raise ValueError(f"a column must be in one sum at most; column {c} is in two")
                    is_taken[c] = True
                    self.columns[used], self.a[used] = c, A[r, c]
                    used += 1
            self.starts[r + 1] = used

    cdef void onto(self, const double *p, const double *lower, const double *upper, double *x,
                   Breakpoint *points) noexcept nogil:
        """x (d,) is the point nearest to p (d,); ``points`` is room for 2 d breakpoints."""
        cdef Py_ssize_t c, r
        for c in range(self.dim):
            x[c] = clipped(p[c], lower[c], upper[c])
        for r in range(self.count):
            self.onto_one(r, p, lower, upper, x, points)

    cdef void onto_one(self, Py_ssize_t r, const double *p, const double *lower, const double *upper, double *x,
                       Breakpoint *points) noexcept nogil:
        cdef Py_ssize_t i, c, first = self.starts[r], end = self.starts[r + 1], turn
        cdef double total = 0.0, wanted, multiplier, off, reach
        for i in range(first, end):
            total += self.a[i] * x[self.columns[i]]
        wanted = clipped(total, self.low[r], self.high[r])
        if first == end or not fabs(wanted - total) > LEFT:
            return
        multiplier = self.multiplier(first, end, p, lower, upper, wanted, points)
        for i in range(first, end):
            c = self.columns[i]
            x[c] = clipped(p[c] - multiplier * self.a[i], lower[c], upper[c])
        for turn in range(3):  # what rounding left over is spread on the columns that can move
            total, reach = 0.0, 0.0
            for i in range(first, end):
                total += self.a[i] * x[self.columns[i]]
            off = wanted - total
            if not fabs(off) > 0.01 * LEFT:
                return
            for i in range(first, end):
                if self.can_move(i, off, lower, upper, x):
                    reach += self.a[i] * self.a[i]
            for i in range(first, end):
                if self.can_move(i, off, lower, upper, x):
                    c = self.columns[i]
                    x[c] = clipped(x[c] + off / max(reach, TINY) * self.a[i], lower[c], upper[c])

    cdef bint can_move(self, Py_ssize_t i, double off, const double *lower, const double *upper,
                       const double *x) noexcept nogil:
        cdef Py_ssize_t c = self.columns[i]
        return upper[c] > x[c] if off * self.a[i] > 0.0 else lower[c] < x[c]

    cdef double multiplier(self, Py_ssize_t first, Py_ssize_t end, const double *p, const double *lower,
                           const double *upper, double wanted, Breakpoint *points) noexcept nogil:
        """λ for which the sum at clip(p - λ a) is what is wanted, or as near to it as can be."""
        cdef Py_ssize_t i = 0, c, count = 0
        cdef double one, two, value = 0.0, then, slope = 0.0, length = 0.0
        for i in range(first, end):
            c = self.columns[i]
            one, two = (p[c] - upper[c]) / self.a[i], (p[c] - lower[c]) / self.a[i]
            points[count].at, points[count].slope = min(one, two), self.a[i] * self.a[i]
            points[count + 1].at, points[count + 1].slope = max(one, two), -self.a[i] * self.a[i]
            value += max(self.a[i] * lower[c], self.a[i] * upper[c])
            count += 2
        sort_breakpoints(points, count)
        for i in range(count - 1):
            slope += points[i].slope
            length = points[i + 1].at - points[i].at
            then = value - slope * length
            if i == count - 2 or not then > wanted:
                break
            value = then
        return points[i].at + min((value - wanted) / max(slope, TINY), length)

    def project(self, const double[:, ::1] P not None, const double[:, ::1] lower not None,
                const double[:, ::1] upper not None):
        """The points nearest to P (m, d) of boxes (m, d), or of one (1, d), in which the sums are what they may be."""
        cdef Py_ssize_t m = check_columns(P, self.dim), d = self.dim, i
        cdef bint single = lower.shape[0] == 1
        check_columns(lower, d)
        check_columns(upper, d)
        if lower.shape[0] != upper.shape[0] or not (single or lower.shape[0] == m):
            raise ValueError("there must be one box, or one for each point")
        X = np.empty((m, d))
        if m == 0 or d == 0:
            return X
        cdef double[:, ::1] X_view = X
        cdef Breakpoint *points = <Breakpoint *> room_for(times(2, d), sizeof(Breakpoint))
        if points == NULL:
            raise MemoryError
        with nogil:
            for i in range(m):
                self.onto(&P[i, 0], &lower[0 if single else i, 0], &upper[0 if single else i, 0], &X_view[i, 0],
                          points)
            free(points)
        return X


def chords(const double[:, ::1] X not None, const double[:, ::1] basis not None, const double[:, ::1] U not None,
           const double[::1] lower not None, const double[::1] upper not None, const double[:, ::1] A not None,
           const double[::1] low not None, const double[::1] high not None):
    """Points (m, j) from X (m, j) by one chord along each row of the basis (f, j), at the shares U (m, f) of it."""
    cdef Py_ssize_t m = X.shape[0], j = check_columns(X, lower.shape[0]), f = basis.shape[0], i, k, c, r
    cdef double first, last, t, at, way
    check_columns(basis, lower.shape[0])
    check_columns(A, lower.shape[0])
    check_columns(U, f)
    j = lower.shape[0]
    if upper.shape[0] != j or U.shape[0] != m or low.shape[0] != A.shape[0] or high.shape[0] != A.shape[0]:
        raise ValueError("points, numbers, box and rules differ in size")
    found = np.array(X)
    if m == 0 or j == 0:
        return found
    cdef double[:, ::1] x = found
    with nogil:
        for i in range(m):
            for k in range(f):
                first, last = -INFINITY, INFINITY
                for c in range(j):
                    reach(x[i, c], basis[k, c], lower[c], upper[c], &first, &last)
                for r in range(A.shape[0]):
                    at, way = 0.0, 0.0
                    for c in range(j):
                        at += A[r, c] * x[i, c]
                        way += A[r, c] * basis[k, c]
                    reach(at, way, low[r], high[r], &first, &last)
                first, last = min(first, 0.0), max(last, 0.0)
                t = first + U[i, k] * (last - first)
                for c in range(j):
                    x[i, c] = clipped(x[i, c] + t * basis[k, c], lower[c], upper[c])
    return found


cdef void reach(double at, double way, double low, double high, double *first, double *last) noexcept nogil:
    """Narrow a chord to where what changes by ``way`` stays between two bounds."""
    if fabs(way) < STILL:
        return
    last[0] = min(last[0], ((high if way > 0.0 else low) - at) / way)
    first[0] = max(first[0], ((low if way > 0.0 else high) - at) / way)


cdef struct Walker:
    # One start: where it is, where its step leads, the best point so far, and the last values.
    double *x
    double *g
    double *move
    double *best
    double past[LOOKED_BACK]
    double f
    double least
    double step
    double spectral
    bint going


cdef struct Walk:
    # What all starts share.
    double factor
    double gradient_tol
    double value_tol
    const double *lower
    const double *upper
    const unsigned char *moves
    Breakpoint *points
    double *there  # (d,)


cdef bint look(Objective objective, const Walk *walk, Py_ssize_t m, const double *X, double *f, double *G) noexcept nogil:
    """What is to be minimized, infinite where the objective is not finite, and its gradient, 0 where that is not."""
    cdef Py_ssize_t i, c, d = objective.dim
    if not objective.evaluate(m, X, f, G):
        return False
    for i in range(m):
        f[i] = walk.factor * f[i] if isfinite(f[i]) else INFINITY
        for c in range(d):
            G[i * d + c] = walk.factor * G[i * d + c] if walk.moves[c] and isfinite(G[i * d + c]) else 0.0
    return True


cdef double pulled(Sums sums, const Walk *walk, const double *x, const double *g, double length,
                   double *move) noexcept nogil:
    """The way (d,) from x to the projection of x - length g; returns its longest coordinate."""
    cdef Py_ssize_t c
    cdef double longest = 0.0
    for c in range(sums.dim):
        walk.there[c] = x[c] - length * g[c]
    sums.onto(walk.there, walk.lower, walk.upper, move, walk.points)
    for c in range(sums.dim):
        move[c] -= x[c]
        longest = max(longest, fabs(move[c]))
    return longest


cdef void arrive(Sums sums, const Walk *walk, Walker *one, Py_ssize_t call, const double *x, double f,
                 const double *g) noexcept nogil:
    """Take a step that was good enough, and choose the next one."""
    cdef Py_ssize_t c, d = sums.dim
    cdef double s, bend = 0.0, length = 0.0, gained = fabs(one.f - f), pull
    for c in range(d):
        s = x[c] - one.x[c]
        bend += s * (g[c] - one.g[c])
        length += s * s
        one.x[c], one.g[c] = x[c], g[c]
    one.spectral = clipped(length / bend, SHORTEST, LONGEST) if bend > 0.0 else LONGEST
    one.f, one.step, one.past[call % LOOKED_BACK] = f, 1.0, f
    pull = pulled(sums, walk, one.x, one.g, 1.0, one.move)
    pulled(sums, walk, one.x, one.g, one.spectral, one.move)
    one.going = pull > walk.gradient_tol and gained > walk.value_tol * max(fabs(f), 1.0)
    if f < one.least:
        one.least = f
        memcpy(one.best, x, d * sizeof(double))


cdef void retire_walkers(Walker *walkers, Py_ssize_t count, Py_ssize_t finalists) noexcept nogil:
    """Only the best starts go on, of equal ones the first."""
    cdef Py_ssize_t i, k, better
    for i in range(count):
        better = 0
        for k in range(count):
            better += walkers[k].least < walkers[i].least or (walkers[k].least == walkers[i].least and k < i)
        if better >= finalists:
            walkers[i].going = False


cdef Py_ssize_t walk_down(Objective objective, Sums sums, const Walk *walk, Py_ssize_t count, Walker *walkers,
                          Py_ssize_t max_rounds, Py_ssize_t heat, Py_ssize_t finalists, double *X, double *f,
                          double *G) noexcept nogil:
    """Every start to its rest; returns the number of calls, or -1. X and G are (count, d), f is (count,)."""
    cdef Py_ssize_t d = sums.dim, i, c, m, call = 1
    cdef double pull, promised, most
    cdef Walker *one
    for i in range(count):
        memcpy(X + i * d, walkers[i].x, d * sizeof(double))
    if not look(objective, walk, count, X, f, G):
        return -1
    for i in range(count):
        one = walkers + i
        one.f = one.least = f[i]
        one.step = 1.0
        for c in range(LOOKED_BACK):
            one.past[c] = f[i]
        memcpy(one.g, G + i * d, d * sizeof(double))
        memcpy(one.best, one.x, d * sizeof(double))
        pull = pulled(sums, walk, one.x, one.g, 1.0, one.move)
        one.spectral = 1.0 / clipped(pull, SHORTEST, LONGEST)
        one.going = pull > walk.gradient_tol
        pulled(sums, walk, one.x, one.g, one.spectral, one.move)
    while call < max_rounds:
        if call == heat:
            retire_walkers(walkers, count, finalists)
        m = 0
        for i in range(count):
            one = walkers + i
            if one.going:
                for c in range(d):
                    walk.there[c] = one.x[c] + one.step * one.move[c]
                sums.onto(walk.there, walk.lower, walk.upper, X + m * d, walk.points)
                m += 1
        if m == 0:
            break
        if not look(objective, walk, m, X, f, G):
            return -1
        m = 0
        for i in range(count):
            one = walkers + i
            if not one.going:
                continue
            promised, most = 0.0, -INFINITY
            for c in range(d):
                promised += one.move[c] * one.g[c]
            for c in range(LOOKED_BACK):
                most = max(most, one.past[c])
            if f[m] <= most + SUFFICIENT * one.step * promised:
                arrive(sums, walk, one, call, X + m * d, f[m], G + m * d)
            else:
                one.step *= 0.5
                one.going = one.step > SHORTEST
            m += 1
        call += 1
    return call


def minimize_projected(Objective objective not None, Sums sums not None, const double[:, ::1] X0 not None,
                       const double[::1] lower not None, const double[::1] upper not None,
                       const unsigned char[::1] moves not None, double factor, settings):
    """The least of ``factor`` times the objective found where the sums hold, from each row of X0 (s, d).

    Returns the points (s, d), the values (s,) there, and the number of calls.
    """
    cdef Py_ssize_t d = objective.dim, count = check_columns(X0, d), i, calls
    cdef Py_ssize_t max_rounds = settings.max_rounds, heat = settings.heat or 0, finalists = settings.finalists
    cdef Walk walk
    if sums.dim != d or lower.shape[0] != d or upper.shape[0] != d or moves.shape[0] != d:
        raise ValueError("the box, the rules and the points differ in size")
    walk.factor, walk.gradient_tol, walk.value_tol = factor, settings.gradient_tol, settings.value_tol
    X, f = np.empty((count, d)), np.empty(count)
    if count == 0 or d == 0:
        return np.array(X0), f, 0
    walk.lower, walk.upper, walk.moves = &lower[0], &upper[0], &moves[0]
    cdef double[:, ::1] X_view = X
    cdef double[::1] f_view = f
    # A start has four rows of d numbers here, and shares two more and a value with the others; all share one row.
    cdef Walker *walkers = <Walker *> room_for(count, sizeof(Walker))
    cdef double *work = room(plus(times(count, plus(times(d, 5), 1)), d))
    walk.points = <Breakpoint *> room_for(times(2, d), sizeof(Breakpoint))
    if walkers == NULL or work == NULL or walk.points == NULL:
        free(walkers)
        free(work)
        free(walk.points)
        raise MemoryError
    cdef double *trial = work
    cdef double *G = trial + count * d
    cdef double *own = G + count * d
    cdef double *values = own + 3 * count * d
    walk.there = values + count
    with nogil:
        for i in range(count):
            walkers[i].x, walkers[i].g, walkers[i].move = own, own + d, own + 2 * d
            walkers[i].best = &X_view[i, 0]
            own += 3 * d
            sums.onto(&X0[i, 0], &lower[0], &upper[0], walkers[i].x, walk.points)
        calls = walk_down(objective, sums, &walk, count, walkers, max_rounds, heat, finalists, trial, values, G)
        for i in range(count):
            f_view[i] = walkers[i].least if calls >= 0 else 0.0
        free(walkers)
        free(work)
        free(walk.points)
    if calls < 0:
        raise objective.failure()
    return X, f, calls
