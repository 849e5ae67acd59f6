! sections (3 blocks) and parallel sections (4 blocks).
!# Construct: sections
!# Unseen@libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
!# Events: parallel_begin = 2
!# Events@libgomp: sections_begin = 3 + 3
!# Events@libgomp: section_begin = 3 + 4
!# Events: work_end = 3 + 3
program sections_f
  implicit none
  integer :: v(7), after
  v = 0
  after = 0
  !$omp parallel
  !$omp sections
  !$omp section
  v(1) = 1
  !$omp section
  v(2) = 1
  !$omp section
  v(3) = 1
  !$omp end sections
  !$omp atomic
  after = after + 1
  !$omp end parallel
  !$omp parallel sections
  !$omp section
  v(4) = 1
  !$omp section
  v(5) = 1
  !$omp section
  v(6) = 1
  !$omp section
  v(7) = 1
  !$omp end parallel sections
  print *, sum(v), after
  if (sum(v) /= 7 .or. after /= 3) stop 1
end program sections_f
