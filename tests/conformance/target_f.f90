! Device constructs on the host fallback: 2 target, 1 target data with its end, 1 update, enter and exit data.
!# Construct: target; target data, update, enter and exit data
!# SkipCompiler: gcc-libomp libomp has none of the entry points for device constructs that GCC 5 and later call (GOMP_target_ext …)
!# Events: target_begin{kind=0} = 2
!# Events: target_begin{kind=1} = 1
!# Events: target_begin{kind=2} = 1
!# Events: target_begin{kind=3} = 1
!# Events: target_begin{kind=4} = 2
!# Events: target_end = 2 + 1 + 1 + 1 + 2
program target_f
  implicit none
  integer :: i, total, v(4)
  total = 0
  v = 0
  do i = 1, 2
    !$omp target map(tofrom: total)
    total = total + i
    !$omp end target
  end do
  !$omp target enter data map(to: v)
  !$omp target data map(tofrom: total)
  v(1) = 4
  !$omp target update to(v)
  total = total + v(1)
  !$omp end target data
  !$omp target exit data map(from: v)
  print *, total
  if (total /= 7) stop 1
end program target_f
