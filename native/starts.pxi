# Which candidates to climb from, and which are near to points; twins: _pick_starts in maximize/multistart.py, Spacing.

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


def near_rows(const double[:, ::1] X, const double[:, ::1] points, const double[::1] scale, double radius,
              double reach):
    """Which rows of X (m, d) are near to some row of ``points`` (k, d): by less than ``radius`` after columns are
    divided by ``scale`` (d,), and by less than ``reach`` as they are."""
    cdef Py_ssize_t d = scale.shape[0], m = check_columns(X, d), k = check_columns(points, d), i, j, c
    cdef double gap, gaps, scaled
    found = np.zeros(m, dtype=bool)
    cdef unsigned char[::1] near = found.view(np.uint8)
    radius, reach = radius * radius, reach * reach
    with nogil:
        for i in range(m):
            for j in range(k):
                gaps, scaled = 0.0, 0.0
                for c in range(d):
                    gap = X[i, c] - points[j, c]
                    gaps += gap * gap
                    scaled += (gap / scale[c]) * (gap / scale[c])
                    if not (scaled < radius and gaps < reach):
                        break
                else:
                    near[i] = radius > 0.0 and reach > 0.0
                    break
    return found
