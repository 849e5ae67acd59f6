! A Fortran program: loop, critical, tasks with depend, sections.
! (A static libgfortran calls pthread_mutex_destroy through a weak reference, which needs help to be there.)
!# Flags: -O1 -fopenmp
!# Flags@x86_64-linux-static,sparc-linux,sparc64-linux: -Wl,-u,pthread_mutex_destroy
!# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
!# Expect: parallel_regions.len = 3
!# Expect: parallel_regions[*].count = 3
!# Expect: tasks.created = 10
!# Expect: tasks.executed = 10
!# Expect: tasks.edges = 9
!# Expect: criticals[total].count = 100
!# Events: chunk_begin = 20
!# Events: section_begin = 2
!# Events: mutex_acquire{kind=2} = 100
program fortran
  implicit none
  integer :: i, n, total, chain, a, b
  n = 100
  total = 0
  chain = 0
  a = 0
  b = 0
  !$omp parallel do schedule(dynamic, 5)
  do i = 1, n
    !$omp critical(total)
    total = total + i
    !$omp end critical(total)
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp single
  do i = 1, 10
    !$omp task depend(inout: chain) firstprivate(i)
    chain = chain * 3 + i
    chain = mod(chain, 10007)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  !$omp parallel sections
  !$omp section
  a = 1
  !$omp section
  b = 2
  !$omp end parallel sections
  print *, total, chain, a, b
end program fortran
