! taskwait 5 turns of 3; with depend once (an empty task: 2 edges, from the writer in and to the reader out); taskgroup 4 turns of 2; taskyield 3.
!# Construct: taskwait; taskwait depend; taskgroup; taskyield
!# Unseen@libomp: [taskyield] libomp has no callback for taskyield
!# Env: OMP_NUM_THREADS=2
!# Events: task_create = 5*3 + 2 + 4*2 + 3
!# Events: task_begin = 5*3 + 2 + 4*2 + 3
!# Events: sync_begin{kind=3} = 5
!# Events: taskwait_depend = 1
!# Events: sync_begin{kind=4} = 1
!# Events: taskgroup_begin = 4
!# Events: sync_begin{kind=5} = 4
!# Events@libgomp: sync_begin{kind=6} = 3
!# Edges: 2
program taskwait_f
  implicit none
  integer :: i, k, total, x, bad
  total = 0
  x = 0
  bad = 0
  !$omp parallel
  !$omp single
  do i = 1, 5
    do k = 1, 3
      !$omp task shared(total)
      !$omp atomic
      total = total + 1
      !$omp end task
    end do
    !$omp taskwait
    if (total /= 3*i) bad = 1
  end do
  !$omp task depend(out: x) shared(x)
  x = 7
  !$omp end task
  !$omp taskwait depend(inout: x)
  if (x /= 7) bad = 1
  !$omp task depend(in: x) shared(x)
  if (x /= 7) bad = 1
  !$omp end task
  do i = 1, 4
    !$omp taskgroup
    do k = 1, 2
      !$omp task shared(total)
      !$omp atomic
      total = total + 1
      !$omp end task
    end do
    !$omp end taskgroup
    if (total /= 15 + 2*i) bad = 1
  end do
  do i = 1, 3
    !$omp task
    !$omp taskyield
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  print *, total, x, bad
  if (bad /= 0) stop 1
end program taskwait_f
