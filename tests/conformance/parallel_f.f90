! The parallel construct: plain, num_threads, a false if clause, once for each of 4 turns; see parallel.c.
!# Construct: parallel
!# Events: parallel_begin = 1 + 1 + 1 + 4
!# Events: implicit_begin = 3 + 2 + 1 + 4*3
!# Events: implicit_end = 3 + 2 + 1 + 4*3
program parallel_f
  implicit none
  integer :: hits, i
  logical :: off
  hits = 0
  off = .false.
  !$omp parallel
  !$omp atomic
  hits = hits + 1
  !$omp end parallel
  !$omp parallel num_threads(2)
  !$omp atomic
  hits = hits + 1
  !$omp end parallel
  !$omp parallel if(off)
  hits = hits + 1
  !$omp end parallel
  do i = 1, 4
    !$omp parallel proc_bind(close)
    !$omp atomic
    hits = hits + 1
    !$omp end parallel
  end do
  print *, hits
  if (hits /= 18) stop 1
end program parallel_f
