/* SPDX-License-Identifier: Apache-2.0 */
/* A library is refused for each way in which its products may be wrong. */
#include "openblas/selfcheck.h"

#include "openblas/plain_gemm.h"
#include "unit.h"

static plain_defect defect_f32, defect_f64;

static void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    assert_int_equal(order, BLAS_ROW_MAJOR);
    plain_sgemm(defect_f32, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static void dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc)
{
    assert_int_equal(order, BLAS_ROW_MAJOR);
    plain_dgemm(defect_f64, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static int check(plain_defect f32, plain_defect f64, char *message, uint32_t size)
{
    const blas_library library = {.name = "libtest.so", .sgemm = sgemm, .dgemm = dgemm};
    axle_error error = {.struct_size = sizeof(error), .message = message, .message_capacity = size};
    defect_f32 = f32;
    defect_f64 = f64;
    message[0] = '\0';
    return blas_selfcheck(&library, &error);
}

static void a_right_library_passes(void **state)
{
    char message[512];
    (void)state;
    assert_int_equal(check(PLAIN_RIGHT, PLAIN_RIGHT, message, sizeof(message)), AXLE_OK);
}

static void every_defect_is_found_in_f32(void **state)
{
    char message[512];
    (void)state;
    for (plain_defect defect = PLAIN_RIGHT + 1; defect < PLAIN_DEFECTS; defect++)
        if (check(defect, PLAIN_RIGHT, message, sizeof(message)) != AXLE_ERR_DEVICE)
            fail_msg("defect %d was not found", (int)defect);
}

static void every_defect_is_found_in_f64(void **state)
{
    char message[512];
    (void)state;
    for (plain_defect defect = PLAIN_RIGHT + 1; defect < PLAIN_DEFECTS; defect++)
        if (check(PLAIN_RIGHT, defect, message, sizeof(message)) != AXLE_ERR_DEVICE)
            fail_msg("defect %d was not found", (int)defect);
}

static void the_message_names_library_and_function(void **state)
{
    char message[512];
    (void)state;
    check(PLAIN_RIGHT, PLAIN_LOSES_LAST_TERM, message, sizeof(message));
    assert_non_null(strstr(message, "libtest.so"));
    assert_non_null(strstr(message, "cblas_dgemm"));
    assert_non_null(strstr(message, "it is not used"));
}

static const struct CMUnitTest tests[] = {
    UNIT("a library with right products passes", a_right_library_passes),
    UNIT("every defect of cblas_sgemm is found", every_defect_is_found_in_f32),
    UNIT("every defect of cblas_dgemm is found", every_defect_is_found_in_f64),
    UNIT("the message names library and function", the_message_names_library_and_function),
};

UNIT_MAIN(tests)
