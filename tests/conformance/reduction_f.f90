! Reductions: a sum of arrays and a maximum, over static loops; a task reduction in a taskgroup (4 tasks).
!# Construct: reduction; task_reduction of a taskgroup
!# Events: parallel_begin = 2
!# Events@gcc: static_loop = 3
!# Unseen@gcc: [reduction] GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
!# Unseen@gcc-libomp: [reduction] GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
!# Events: task_create = 4
!# Events: task_begin = 4
!# Events: taskgroup_begin = 1
program reduction_f
  implicit none
  integer :: i, total(2), most, tasks
  total = 0
  most = 0
  tasks = 0
  !$omp parallel do reduction(+:total) reduction(max:most)
  do i = 1, 30
    total = total + [i, 1]
    most = max(most, i)
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp single
  !$omp taskgroup task_reduction(+:tasks)
  do i = 1, 4
    !$omp task in_reduction(+:tasks) firstprivate(i)
    tasks = tasks + i
    !$omp end task
  end do
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  print *, total, most, tasks
  if (any(total /= [465, 30]) .or. most /= 30 .or. tasks /= 10) stop 1
end program reduction_f
