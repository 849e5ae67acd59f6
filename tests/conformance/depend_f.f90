! depend: out, 3 in, inout, 2 mutexinoutset, in; 4 elements at once, 4 in their element (by depend object: depobj_f.f90).
! (No iterator here: gfortran 12 leaves its last step out, iterator(k = 1:4) gives three entries.)
! Edges: 3 + 3 + 2 + 2, 4.
!# Construct: depend(in, out, inout); depend(mutexinoutset)
!# Env: OMP_NUM_THREADS=2
!# Events: task_create = 1 + 3 + 1 + 2 + 1 + 1 + 4
!# Events: task_begin = 1 + 3 + 1 + 2 + 1 + 1 + 4
!# Entries: task_create{kind=1} = 3 + 1 + 4
!# Entries: task_create{kind=4} = 2
!# Entries: task_create{kind=2} = 1 + 1 + 4
!# Edges: 3 + 3 + 2 + 2 + 4
program depend_f
  implicit none
  integer :: i, x, bad, a(4), total
  x = 0
  bad = 0
  total = 0
  !$omp parallel
  !$omp single
  !$omp task depend(out: x) shared(x)
  x = 1
  !$omp end task
  do i = 1, 3
    !$omp task depend(in: x) shared(x, bad)
    if (x /= 1) bad = 1
    !$omp end task
  end do
  !$omp task depend(inout: x) shared(x)
  x = 10
  !$omp end task
  do i = 1, 2
    !$omp task depend(mutexinoutset: x) shared(x)
    x = x + 1
    !$omp end task
  end do
  !$omp task depend(in: x) shared(x, bad)
  if (x /= 12) bad = 1
  !$omp end task
  !$omp task depend(out: a(1), a(2), a(3), a(4)) shared(a)
  a = 5
  !$omp end task
  do i = 1, 4
    !$omp task depend(in: a(i)) shared(a, total) firstprivate(i)
    !$omp atomic
    total = total + a(i)
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  print *, x, bad, total
  if (x /= 12 .or. bad /= 0 .or. total /= 20) stop 1
end program depend_f
