! Combined: parallel do simd (dynamic, 60/10: 6 chunks), parallel master taskloop (4 tasks), scope (no call but its barrier).
!# Construct: combined constructs
!# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
!# Events: parallel_begin = 3
!# Events@libgomp: chunk_begin = 6
!# Events: taskloop_begin = 1
!# Events: taskloop_task + task_create = 4
!# Events: task_begin = 4
!# Events: scope_begin = 0
program combined_f
  implicit none
  integer :: i, n, total
  n = 60 + command_argument_count()
  total = 0
  !$omp parallel do simd schedule(dynamic, 10) reduction(+:total)
  do i = 1, n
    total = total + i
  end do
  !$omp end parallel do simd
  !$omp parallel master taskloop num_tasks(4) reduction(+:total)
  do i = 1, n
    total = total + i
  end do
  !$omp end parallel master taskloop
  !$omp parallel
  !$omp scope reduction(+:total)
  total = total + 1
  !$omp end scope
  !$omp end parallel
  print *, total
  if (total /= 2*1830 + 3) stop 1
end program combined_f
