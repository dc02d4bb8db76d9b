# Box-constrained limited-memory BFGS over many starts at once; twin: numerics/lbfgs.py, step by step the same search.

cdef double TINY = 1e-300


cdef struct Rules:
    # Settings of the search, and the box (d,); ``factor`` turns what is minimized into what the objective gives.
    Py_ssize_t d
    Py_ssize_t memory
    Py_ssize_t max_rounds
    Py_ssize_t heat
    Py_ssize_t finalists
    double gradient_tol
    double value_tol
    double first_step
    double factor
    const double *lower
    const double *upper
    const unsigned char *moves
    double *free_  # (d,): 1 where a turn may go, 0 where a bound holds
    double *scratch  # (2, memory), for what the two loops of a turn share


cdef struct Start:
    # One start: where it is, where it goes, and what it remembers, newest pair last.
    double *x
    double f
    double *g
    double *direction
    double t
    double *S
    double *Y
    Py_ssize_t pairs
    bint fresh
    bint live
    bint resting


cdef bint is_free(const Rules *rules, Py_ssize_t c, double x, double g) noexcept nogil:
    """Whether coordinate c is not held at a bound by its gradient."""
    return not ((rules.lower[c] >= x and g > 0.0) or (rules.upper[c] <= x and g < 0.0))


cdef double steepest(const Rules *rules, const Start *start) noexcept nogil:
    """The largest free coordinate of the gradient."""
    cdef double most = 0.0
    cdef Py_ssize_t c
    for c in range(rules.d):
        if is_free(rules, c, start.x[c], start.g[c]):
            most = max(most, fabs(start.g[c]))
    return most


cdef double first_step(const Rules *rules, const double *direction) noexcept nogil:
    """The step length that moves the steepest coordinate by a share of the box, whatever the gradient is."""
    cdef double widest = 0.0
    cdef Py_ssize_t c
    for c in range(rules.d):
        widest = max(widest, fabs(direction[c] / max(rules.upper[c] - rules.lower[c], TINY)))
    return rules.first_step / max(widest, TINY)


cdef double free_dot(const Rules *rules, const double *a, const double *b) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t c
    for c in range(rules.d):
        total += rules.free_[c] * a[c] * b[c]
    return total


cdef bint turn(const Rules *rules, Start *start) noexcept nogil:
    """The next direction: -H g on the free coordinates, H by the two loops of [Nocedal1980]; says if any pair was kept.

    Pairs without positive curvature on the free coordinates are left out.
    """
    cdef Py_ssize_t d = rules.d, c, i
    cdef double *a = rules.scratch
    cdef double *curvature = rules.scratch + rules.memory
    cdef double length, gamma = 1.0, b, slope = 0.0
    cdef double *r = start.direction
    cdef const double *s
    cdef const double *y
    cdef bint some = False
    for c in range(d):
        rules.free_[c] = is_free(rules, c, start.x[c], start.g[c])
        r[c] = rules.free_[c] * start.g[c]
    for i in range(start.pairs - 1, -1, -1):
        s, y = start.S + i * d, start.Y + i * d
        curvature[i], length = free_dot(rules, s, y), free_dot(rules, y, y)
        if not curvature[i] > 1e-12 * length:
            curvature[i] = 0.0
            continue
        if not some:
            gamma, some = curvature[i] / length, True
        a[i] = free_dot(rules, s, r) / curvature[i]
        for c in range(d):
            r[c] -= rules.free_[c] * a[i] * y[c]
    for c in range(d):
        r[c] *= gamma
    for i in range(start.pairs):
        if curvature[i] == 0.0:
            continue
        s, y = start.S + i * d, start.Y + i * d
        b = free_dot(rules, y, r) / curvature[i]
        for c in range(d):
            r[c] += rules.free_[c] * (a[i] - b) * s[c]
    for c in range(d):
        r[c] = -r[c]
        slope += r[c] * start.g[c]
    if slope >= 0.0:
        for c in range(d):
            r[c] = -rules.free_[c] * start.g[c]
    return some


cdef void downhill(const Rules *rules, Start *start) noexcept nogil:
    """Steepest descent on the free coordinates, nothing remembered."""
    cdef Py_ssize_t c
    for c in range(rules.d):
        start.direction[c] = -start.g[c] if is_free(rules, c, start.x[c], start.g[c]) else 0.0
    start.pairs, start.fresh = 0, True


cdef bint take(const Rules *rules, Start *start, const double *x, double f, const double *g) noexcept nogil:
    """Move to the trial point and turn; says whether the start has come to rest there."""
    cdef Py_ssize_t d = rules.d, c
    cdef double gain = start.f - f
    cdef double *s
    cdef double *y
    if start.pairs == rules.memory:
        memmove(start.S, start.S + d, (rules.memory - 1) * d * sizeof(double))
        memmove(start.Y, start.Y + d, (rules.memory - 1) * d * sizeof(double))
        start.pairs -= 1
    s, y = start.S + start.pairs * d, start.Y + start.pairs * d
    for c in range(d):
        s[c], y[c] = x[c] - start.x[c], g[c] - start.g[c]
        start.x[c], start.g[c] = x[c], g[c]
    start.pairs += 1
    start.f, start.fresh = f, False
    if steepest(rules, start) <= rules.gradient_tol or gain <= rules.value_tol * max(fabs(f), 1.0):
        return True
    # Without positive curvature the gradient's size says nothing about how far to go.
    start.t = 1.0 if turn(rules, start) else first_step(rules, start.direction)
    return False


cdef bint shorten(const Rules *rules, Start *start, const double *x, double f, double slope, bint sound) noexcept nogil:
    """Shorten the step that led to the trial point; says whether the start has come to rest."""
    cdef Py_ssize_t c
    cdef double rise = f - start.f - slope if sound else INFINITY, shrink = 0.5, longest = 0.0, most = 0.0
    # The minimizer of the parabola through f, its slope and the trial value, kept within [0.1, 0.5].
    if rise > 0.0:
        shrink = -slope / max(max(2.0 * rise, fabs(slope)), TINY)
    start.t *= min(max(shrink, 0.1), 0.5)
    for c in range(rules.d):
        longest = max(longest, fabs(x[c] - start.x[c]))
    if longest >= NO_MOVE and slope < 0.0:
        return False
    if start.fresh:
        return True
    # The remembered curvature misleads here: forget it and go straight downhill once more.
    downhill(rules, start)
    for c in range(rules.d):
        most = max(most, fabs(start.direction[c]))
    start.t = rules.first_step / max(most, TINY)
    return False


cdef bint advance(const Rules *rules, Start *start, const double *x, double f, const double *g) noexcept nogil:
    """Take the trial step or shorten it; says whether the start has come to rest."""
    cdef Py_ssize_t c
    cdef double slope = 0.0
    cdef bint sound = all_finite(rules.d, f, g)
    for c in range(rules.d):
        slope += start.g[c] * (x[c] - start.x[c])
    if sound and slope < 0.0 and f <= start.f + SUFFICIENT * slope:
        return take(rules, start, x, f, g)
    return shorten(rules, start, x, f, slope, sound)


cdef bint evaluate_all(Objective objective, const Rules *rules, Py_ssize_t m, const double *X, double *f,
                       double *G) noexcept nogil:
    """The objective as something to be minimized over the columns that move."""
    cdef Py_ssize_t i, c, d = rules.d
    if not objective.evaluate(m, X, f, G):
        return False
    for i in range(m):
        f[i] *= rules.factor
        for c in range(d):
            G[i * d + c] = rules.factor * G[i * d + c] if rules.moves[c] else 0.0
    return True


cdef void retire(const Rules *rules, Start *starts, Py_ssize_t count) noexcept nogil:
    """Of the live starts only the finalists go on; ties with the last of them too."""
    cdef Py_ssize_t i, j, better
    cdef double cut = INFINITY
    for i in range(count):
        if starts[i].live:
            better = 0
            for j in range(count):
                better += starts[j].live and starts[j].f < starts[i].f
            if better < rules.finalists:
                cut = starts[i].f if cut == INFINITY else max(cut, starts[i].f)
    for i in range(count):
        starts[i].live = starts[i].live and starts[i].f <= cut


cdef Py_ssize_t descend(Objective objective, const Rules *rules, Py_ssize_t count, Start *starts,
                        double *trial, double *f, double *G) noexcept nogil:
    """Every start to its rest; returns the number of rounds, or -1 without memory. ``trial`` and ``G`` are (count, d)."""
    cdef Py_ssize_t d = rules.d, i, c, m, rounds = 1, live
    cdef bint sound
    for i in range(count):
        memcpy(trial + i * d, starts[i].x, d * sizeof(double))
    if not evaluate_all(objective, rules, count, trial, f, G):
        return -1
    for i in range(count):
        sound = all_finite(d, f[i], G + i * d)
        memcpy(starts[i].g, G + i * d, d * sizeof(double))
        starts[i].f = f[i] if sound else INFINITY
        downhill(rules, &starts[i])
        starts[i].t = min(1.0, first_step(rules, starts[i].direction))
        starts[i].live = sound and steepest(rules, &starts[i]) > rules.gradient_tol
    while rounds < rules.max_rounds:
        m = 0
        for i in range(count):
            if starts[i].live:
                for c in range(d):
                    trial[m * d + c] = min(max(starts[i].x[c] + starts[i].t * starts[i].direction[c], rules.lower[c]),
                                           rules.upper[c])
                m += 1
        if m == 0:
            break
        if not evaluate_all(objective, rules, m, trial, f, G):
            return -1
        rounds += 1
        live, m = m, 0
        for i in range(count):
            if starts[i].live:
                starts[i].resting = advance(rules, &starts[i], trial + m * d, f[m], G + m * d)
                m += 1
        if rounds == rules.heat and live > rules.finalists:
            retire(rules, starts, count)
        for i in range(count):
            starts[i].live = starts[i].live and not starts[i].resting
    return rounds


def minimize(Objective objective not None, const double[:, ::1] X0, const double[::1] lower, const double[::1] upper,
             const unsigned char[::1] moves, double factor, settings):
    """Local minima of ``factor`` times the objective over the columns that move, one for each row of X0 (s, d).

    Returns the points (s, d), the values (s,) there, and the number of rounds.
    """
    cdef Py_ssize_t d = objective.dim, count = check_columns(X0, d), i, rounds
    cdef Rules rules
    if lower.shape[0] != d or upper.shape[0] != d or moves.shape[0] != d:
        raise ValueError("the box and the points differ in size")
    rules.d, rules.memory = d, settings.memory
    if rules.memory < 1:
        raise ValueError(f"memory must be 1 or more; got {rules.memory}")
    rules.max_rounds, rules.heat = settings.max_rounds, settings.heat or 0
    rules.finalists, rules.first_step = settings.finalists, settings.first_step
    rules.gradient_tol, rules.value_tol = settings.gradient_tol, settings.value_tol
    rules.factor, rules.lower, rules.upper, rules.moves = factor, &lower[0], &upper[0], &moves[0]
    X, f = np.minimum(np.maximum(X0, lower), upper), np.empty(count)
    if count == 0:
        return X, f, 0
    cdef double[:, ::1] X_view = X
    cdef double[::1] f_view = f
    # A start has 2 memory + 4 rows of d numbers and a value; all share two rows for a turn, and one of what is free.
    cdef Py_ssize_t pairs = times(2, rules.memory), each = plus(times(d, plus(pairs, 4)), 1)
    cdef Start *starts = <Start *> room_for(count, sizeof(Start))
    cdef double *work = room(plus(times(count, each), plus(pairs, d)))
    if starts == NULL or work == NULL:
        free(starts)
        free(work)
        raise MemoryError
    cdef double *trial = work
    cdef double *G = trial + count * d
    cdef double *values = G + count * d
    cdef double *own = values + count
    rules.scratch = own + count * d * (2 * rules.memory + 2)
    rules.free_ = rules.scratch + 2 * rules.memory
    with nogil:
        for i in range(count):
            starts[i].x = &X_view[i, 0]
            starts[i].g, starts[i].direction = own, own + d
            starts[i].S, starts[i].Y = own + 2 * d, own + (2 + rules.memory) * d
            own += (2 + 2 * rules.memory) * d
        rounds = descend(objective, &rules, count, starts, trial, values, G)
        for i in range(count):
            f_view[i] = starts[i].f
        free(starts)
        free(work)
    if rounds < 0:
        raise objective.failure()
    return X, f, rounds
