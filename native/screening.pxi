# Which candidates to climb from; twin: _screened and _pick_starts in maximize/multistart.py.

cdef enum:
    BOUNDED_FROM = 150

cdef Py_ssize_t best_rows(Py_ssize_t m, const double *values, Py_ssize_t most, Py_ssize_t *rows) noexcept nogil:
    """The rows of the ``most`` largest values, best first, equal ones in their order; returns how many there are."""
    cdef Py_ssize_t count = 0, i, j
    for i in range(m):
        if count == most and not values[i] > values[rows[count - 1]]:
            continue
        j = count if count < most else count - 1
        while j > 0 and values[i] > values[rows[j - 1]]:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = i
        count += count < most
    return count


cdef bint is_apart(Py_ssize_t d, const double *X, Py_ssize_t row, Py_ssize_t count, const Py_ssize_t *taken,
                   double apart) noexcept nogil:
    """Whether a row differs by more than ``apart`` in some coordinate from every one that was taken."""
    cdef Py_ssize_t i, c
    cdef double gap
    for i in range(count):
        gap = 0.0
        for c in range(d):
            gap = max(gap, fabs(X[row * d + c] - X[taken[i] * d + c]))
        if gap <= apart:
            return False
    return True


def pick_starts(const double[:, ::1] X, const double[::1] values, Py_ssize_t wanted, Py_ssize_t among, double apart):
    """Rows of X (m, d), up to ``wanted``: good candidates that are apart, of the ``among`` best, best first."""
    cdef Py_ssize_t m = values.shape[0], i, ranked, count = 0
    if X.shape[0] != m or m == 0 or wanted < 1 or among < 1:
        raise ValueError("candidates and values differ in number, or there are none")
    wanted = min(wanted, m)
    picked, order = np.empty(wanted, dtype=np.intp), np.empty(min(m, among), dtype=np.intp)
    cdef Py_ssize_t[::1] taken = picked
    cdef Py_ssize_t[::1] best = order
    with nogil:
        ranked = best_rows(m, &values[0], best.shape[0], &best[0])
        for i in range(ranked):
            if count < wanted and is_apart(X.shape[1], &X[0, 0], best[i], count, &taken[0], apart):
                taken[count] = best[i]
                count += 1
    return picked[:count]


def screen(Improvement target not None, const double[:, ::1] X, Py_ssize_t keep):
    """Values (m,) of the objective at X (m, d), exact for the ``keep`` best of them; others may be upper bounds.

    The first rows are settled; of the others those that an upper bound leaves above the ``keep`` best of the first.
    LogEI grows with the std, so a bound of that bounds it. All are exact where bounds are not worth it, and where all
    values lie within 1, so that a caller may take their range for that of the exact ones.
    """
    cdef Py_ssize_t m = check_columns(X, target.dim), d = target.dim, first, i, count = 0
    if target.kind != LOG_EI or target.posterior.n < BOUNDED_FROM or keep < 1 or m - keep <= keep:
        return target.value(X)
    first = 2 * keep
    values, order, points = np.empty(m), np.empty(m, dtype=np.intp), np.empty((m - first, d))
    cdef double[::1] view = values
    cdef Py_ssize_t[::1] rows = order
    cdef double[:, ::1] open_ = points
    cdef double least
    cdef bint good
    with nogil:
        good = target.value_into(first, &X[0, 0], &view[0], False)
        good = good and target.value_into(m - first, &X[first, 0], &view[first], True)
    if not good:
        raise MemoryError
    with nogil:
        least = view[rows[best_rows(first, &view[0], keep, &rows[0]) - 1]]
        for i in range(first, m):
            if not view[i] <= least:
                rows[count] = i
                memcpy(&open_[count, 0], &X[i, 0], d * sizeof(double))
                count += 1
    values[order[:count]] = target.value(points[:count])
    return values if np.ptp(values) >= 1.0 else target.value(X)
