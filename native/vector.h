/* The innermost loops, in plain C so that a compiler turns each into vector instructions.

   Nothing here allocates, branches on data or knows what its numbers mean to a user. Points are kept by columns: U is
   (d, n), one row for each coordinate, divided by its lengthscale; `ld` is the distance between rows. */
#ifndef BELIEVER_VECTOR_H
#define BELIEVER_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One wheel for all x86-64 processors: the loader picks the version that suits the one at hand. The widest vectors help
   where an element costs much (exp and sqrt) and not where rows are short and summed. A build may ask for what a
   processor of one level would get, and no other (-DONE_LEVEL=3; tests/processors.py does). */
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__AVX2__)
#if !defined(ONE_LEVEL)
#define FOR_EACH_CPU __attribute__((target_clones("default", "arch=x86-64-v3")))
#define FOR_EACH_CPU_WIDE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#elif ONE_LEVEL >= 3
#define FOR_EACH_CPU __attribute__((target("arch=x86-64-v3")))
#if ONE_LEVEL >= 4
#define FOR_EACH_CPU_WIDE __attribute__((target("arch=x86-64-v4")))
#else
#define FOR_EACH_CPU_WIDE FOR_EACH_CPU
#endif
#endif
#endif
#ifndef FOR_EACH_CPU
#define FOR_EACH_CPU
#define FOR_EACH_CPU_WIDE
#endif

/* Helpers must become part of each version of their caller. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(_MSC_VER)
#define SIMD
#define SUM(...)
#define RESTRICT __restrict
#else
#define STRING(text) #text
#define PRAGMA(text) _Pragma(STRING(text))
#define SIMD PRAGMA(omp simd)
#define SUM(...) PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define RESTRICT restrict
#endif

/* exp(x) for x <= 0, to two units in the last place; below -708 it stays at exp(-708).
   x = m log 2 + r with |r| <= log(2)/2; the series of exp(r) to r^12 is exact to rounding; m goes into the exponent. */
INLINE double exp_negative(double x) {
    const double round = 6755399441055744.0; /* 1.5 * 2^52: adding it leaves an integer in the low bits */
    double shifted, r, p;
    int64_t bits, exponent;
    x = x < -708.0 ? -708.0 : x;
    shifted = x * 1.4426950408889634 + round;
    r = shifted - round;
    r = (x - r * 0.693147180369123816490) - r * 1.90821492927058770002e-10;
    p = 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    memcpy(&exponent, &shifted, sizeof exponent);
    memcpy(&bits, &p, sizeof bits);
    bits += (int64_t)((uint64_t)exponent << 52);
    memcpy(&p, &bits, sizeof p);
    return p;
}

enum { MATERN52, MATERN32, SQUARED_EXPONENTIAL };

/* signal * k and signal * h (n,) between the point u (d,) and the n points U; see kernels.py for k and h. */
FOR_EACH_CPU_WIDE
static void kernel_row(int kernel, ptrdiff_t n, ptrdiff_t d, const double *RESTRICT u, const double *RESTRICT U,
                       ptrdiff_t ld, double signal, double *RESTRICT k, double *RESTRICT h) {
    ptrdiff_t c = d % 2, j;
    /* Two coordinates at a time, because what takes long is to fetch and store k. */
    if (c == 1) {
        SIMD for (j = 0; j < n; j++) k[j] = (u[0] - U[j]) * (u[0] - U[j]);
    } else {
        for (j = 0; j < n; j++)
            k[j] = 0.0;
    }
    for (; c < d; c += 2) {
        const double *RESTRICT one = U + c * ld, *RESTRICT two = one + ld;
        const double x = u[c], y = u[c + 1];
        SIMD for (j = 0; j < n; j++) {
            const double a = x - one[j], b = y - two[j];
            k[j] += a * a + b * b;
        }
    }
    if (kernel == MATERN52) {
        SIMD for (j = 0; j < n; j++) {
            const double a = sqrt(5.0 * k[j]), e = signal * exp_negative(-a), w = (1.0 + a) * e;
            k[j] = w + (5.0 / 3.0) * k[j] * e;
            h[j] = (5.0 / 3.0) * w;
        }
    } else if (kernel == MATERN32) {
        SIMD for (j = 0; j < n; j++) {
            const double a = sqrt(3.0 * k[j]), e = signal * exp_negative(-a);
            k[j] = (1.0 + a) * e;
            h[j] = 3.0 * e;
        }
    } else {
        SIMD for (j = 0; j < n; j++) {
            k[j] = signal * exp_negative(-0.5 * k[j]);
            h[j] = k[j];
        }
    }
}

/* out[c] = sum_j w_j (U_cj - u_c): what gradients by x are made of. */
FOR_EACH_CPU
static void pulls(ptrdiff_t n, ptrdiff_t d, const double *RESTRICT u, const double *RESTRICT U, ptrdiff_t ld,
                  const double *RESTRICT w, double *RESTRICT out) {
    ptrdiff_t c, j;
    for (c = 0; c < d; c++) {
        const double *RESTRICT column = U + c * ld;
        const double here = u[c];
        double sum = 0.0;
        SUM(sum) for (j = 0; j < n; j++) sum += w[j] * (column[j] - here);
        out[c] = sum;
    }
}

/* out[c] += sum_j w_j (U_cj - u_c)^2: what gradients by log-lengthscales are made of. */
FOR_EACH_CPU
static void spreads(ptrdiff_t n, ptrdiff_t d, const double *RESTRICT u, const double *RESTRICT U, ptrdiff_t ld,
                    const double *RESTRICT w, double *RESTRICT out) {
    ptrdiff_t c, j;
    for (c = 0; c < d; c++) {
        const double *RESTRICT column = U + c * ld;
        const double here = u[c];
        double sum = 0.0;
        SUM(sum) for (j = 0; j < n; j++) {
            const double gap = column[j] - here;
            sum += w[j] * gap * gap;
        }
        out[c] += sum;
    }
}

/* What the pairs of point u with the n points U add to products with derivatives of the covariance by log-lengthscales:
   out[c] += sum_j t_cj alpha_j for u itself and V_cj += t_cj a for the others, with t_cj = h_j (U_cj - u_c)^2. */
FOR_EACH_CPU
static void lengthscale_products(ptrdiff_t n, ptrdiff_t d, const double *RESTRICT u, const double *RESTRICT U,
                                 ptrdiff_t ld, const double *RESTRICT h, double a, const double *RESTRICT alpha,
                                 double *RESTRICT V, double *RESTRICT out) {
    ptrdiff_t c, j;
    for (c = 0; c < d; c++) {
        const double *RESTRICT column = U + c * ld;
        double *RESTRICT product = V + c * ld;
        const double here = u[c];
        double sum = 0.0;
        SUM(sum) for (j = 0; j < n; j++) {
            const double gap = column[j] - here, t = h[j] * gap * gap;
            sum += t * alpha[j];
            product[j] += t * a;
        }
        out[c] += sum;
    }
}

/* w_j = (a * alpha_j - precision_j) h_j: one row of M h in the derivative of the likelihood. */
FOR_EACH_CPU
static void likelihood_weights(ptrdiff_t n, double a, const double *RESTRICT alpha, const double *RESTRICT precision,
                               const double *RESTRICT h, double *RESTRICT w) {
    ptrdiff_t j;
    SIMD for (j = 0; j < n; j++) w[j] = (a * alpha[j] - precision[j]) * h[j];
}

/* Four rows of W at a time meet one or two right-hand sides: v = W k, then out += v W, while the rows are in cache.
   Where there are fewer than four rows left, pointers to zeros stand in for the others. */
INLINE void four_by_two(ptrdiff_t n, const double *RESTRICT w0, const double *RESTRICT w1,
                               const double *RESTRICT w2, const double *RESTRICT w3, const double *RESTRICT ka,
                               const double *RESTRICT kb, double *RESTRICT na, double *RESTRICT nb,
                               double *RESTRICT oa, double *RESTRICT ob) {
    double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0, b0 = 0.0, b1 = 0.0, b2 = 0.0, b3 = 0.0;
    ptrdiff_t j;
    SUM(a0, a1, a2, a3, b0, b1, b2, b3) for (j = 0; j < n; j++) {
        a0 += w0[j] * ka[j];
        a1 += w1[j] * ka[j];
        a2 += w2[j] * ka[j];
        a3 += w3[j] * ka[j];
        b0 += w0[j] * kb[j];
        b1 += w1[j] * kb[j];
        b2 += w2[j] * kb[j];
        b3 += w3[j] * kb[j];
    }
    *na += (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3);
    *nb += (b0 * b0 + b1 * b1) + (b2 * b2 + b3 * b3);
    SIMD for (j = 0; j < n; j++) {
        oa[j] += (a0 * w0[j] + a1 * w1[j]) + (a2 * w2[j] + a3 * w3[j]);
        ob[j] += (b0 * w0[j] + b1 * w1[j]) + (b2 * w2[j] + b3 * w3[j]);
    }
}

INLINE void four_by_one(ptrdiff_t n, const double *RESTRICT w0, const double *RESTRICT w1,
                               const double *RESTRICT w2, const double *RESTRICT w3, const double *RESTRICT k,
                               double *RESTRICT norm, double *RESTRICT out) {
    double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0;
    ptrdiff_t j;
    SUM(a0, a1, a2, a3) for (j = 0; j < n; j++) {
        a0 += w0[j] * k[j];
        a1 += w1[j] * k[j];
        a2 += w2[j] * k[j];
        a3 += w3[j] * k[j];
    }
    *norm += (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3);
    SIMD for (j = 0; j < n; j++) out[j] += (a0 * w0[j] + a1 * w1[j]) + (a2 * w2[j] + a3 * w3[j]);
}

/* For m right-hand sides K (m, ldk): norms_r += |W k_r|^2 and out_r += W^T W k_r, in one pass over `rows` rows of a
   lower triangle whose row i reaches to column first + i; what is stored beyond is zero, and is read up to a multiple
   of eight, because a remainder costs more than it. `zeros` (first + rows,). */
FOR_EACH_CPU
static void whiten_and_back(ptrdiff_t rows, ptrdiff_t first, const double *RESTRICT W, ptrdiff_t ld, ptrdiff_t m,
                            const double *RESTRICT K, ptrdiff_t ldk, double *RESTRICT norms, double *RESTRICT out,
                            const double *RESTRICT zeros) {
    ptrdiff_t i, r;
    for (i = 0; i < rows; i += 4) {
        const ptrdiff_t whole = (first + i + 4 + 7) / 8 * 8, n = whole < first + rows ? whole : first + rows;
        const double *w0 = W + i * ld;
        const double *w1 = i + 1 < rows ? w0 + ld : zeros;
        const double *w2 = i + 2 < rows ? w0 + 2 * ld : zeros;
        const double *w3 = i + 3 < rows ? w0 + 3 * ld : zeros;
        for (r = 0; r + 1 < m; r += 2)
            four_by_two(n, w0, w1, w2, w3, K + r * ldk, K + (r + 1) * ldk, norms + r, norms + r + 1, out + r * ldk,
                        out + (r + 1) * ldk);
        if (r < m)
            four_by_one(n, w0, w1, w2, w3, K + r * ldk, norms + r, out + r * ldk);
    }
}

/* The lower triangle of A (n, n), n <= SMALL, a covariance, becomes W = L^-1; 0 where it is not positive definite.
   What is above the diagonal of A stays. Rows are combined with rows, so that every inner loop is a vector operation. */
enum { SMALL = 32 };

FOR_EACH_CPU
static int small_inverse_factor(ptrdiff_t n, double *RESTRICT A, ptrdiff_t ld) {
    double U[SMALL][SMALL], W[SMALL][SMALL];
    ptrdiff_t i, j, k;
    for (i = 0; i < n; i++)
        for (j = 0; j <= i; j++)
            U[j][i] = A[i * ld + j];
    for (k = 0; k < n; k++) {
        double *RESTRICT pivot_row = U[k];
        const double pivot = pivot_row[k], scale = 1.0 / sqrt(pivot);
        if (!(pivot > 0.0) || !(scale > 0.0))
            return 0;
        SIMD for (j = k; j < n; j++) pivot_row[j] *= scale;
        for (i = k + 1; i < n; i++) {
            double *RESTRICT row = U[i];
            const double weight = pivot_row[i];
            SIMD for (j = i; j < n; j++) row[j] -= weight * pivot_row[j];
        }
    }
    for (i = 0; i < n; i++) {
        double *RESTRICT row = W[i];
        const double scale = 1.0 / U[i][i];
        for (j = 0; j < i; j++)
            row[j] = 0.0;
        for (k = 0; k < i; k++) {
            const double *RESTRICT other = W[k];
            const double weight = U[k][i];
            SIMD for (j = 0; j <= k; j++) row[j] -= weight * other[j];
        }
        row[i] = 1.0;
        SIMD for (j = 0; j <= i; j++) row[j] *= scale;
        memcpy(A + i * ld, row, (size_t)(i + 1) * sizeof(double));
    }
    return 1;
}

/* The lower triangle W (n, n), n <= SMALL, becomes that of W^T W. */
FOR_EACH_CPU
static void small_precision(ptrdiff_t n, double *RESTRICT A, ptrdiff_t ld) {
    double P[SMALL][SMALL];
    ptrdiff_t i, j, k;
    for (i = 0; i < n; i++)
        for (j = 0; j <= i; j++)
            P[i][j] = 0.0;
    for (k = 0; k < n; k++) {
        const double *RESTRICT row = A + k * ld;
        for (i = 0; i <= k; i++) {
            double *RESTRICT sums = P[i];
            const double weight = row[i];
            SIMD for (j = 0; j <= i; j++) sums[j] += weight * row[j];
        }
    }
    for (i = 0; i < n; i++)
        memcpy(A + i * ld, P[i], (size_t)(i + 1) * sizeof(double));
}

#endif
