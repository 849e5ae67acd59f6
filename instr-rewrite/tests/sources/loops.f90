! Loops, criticals and a lock from Fortran.
program loops
  use omp_lib
  implicit none
  integer :: i, total
  integer(kind=omp_lock_kind) :: lock
  call omp_init_lock(lock)
  total = 0
  !$omp parallel do schedule(dynamic, 4) num_threads(2)
  do i = 1, 100
    !$omp critical
    total = total + i
    !$omp end critical
    call omp_set_lock(lock)
    call omp_unset_lock(lock)
  end do
  !$omp end parallel do
  !$omp parallel num_threads(2)
  !$omp single
  !$omp task shared(total)
  total = total + 1
  !$omp end task
  !$omp end single
  !$omp end parallel
  call omp_destroy_lock(lock)
  print '(i0)', total
end program loops
