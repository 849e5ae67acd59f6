! Dynamic, guided, runtime, collapsed and backward do loops.
! 100/7: 15; guided at least 10: 6 (34 22 15 10 10 9); runtime dynamic,20: 5; collapse 6 x 5 in chunks of 4: 8; 20 steps of -3 in chunks of 4: 5
!# Construct: loop, dynamic; loop, guided; loop, runtime; loop, collapse
!# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
!# Env: OMP_SCHEDULE=dynamic,20
!# Events: parallel_begin = 5
!# Events: loop_begin = 5*3
!# Events: work_end = 5*3
!# Events@libgomp: chunk_begin = 15 + 6 + 5 + 8 + 5
program do_dynamic_f
  implicit none
  integer :: i, j, n, total
  n = 100 + command_argument_count()
  total = 0
  !$omp parallel do schedule(dynamic, 7) reduction(+:total)
  do i = 1, n
    total = total + i
  end do
  !$omp end parallel do
  !$omp parallel do schedule(guided, 10) reduction(+:total)
  do i = 1, n
    total = total + i
  end do
  !$omp end parallel do
  !$omp parallel do schedule(runtime) reduction(+:total)
  do i = 1, n
    total = total + i
  end do
  !$omp end parallel do
  !$omp parallel do collapse(2) schedule(dynamic, 4) reduction(+:total)
  do i = 1, n - 94
    do j = 1, n - 95
      total = total + 1
    end do
  end do
  !$omp end parallel do
  !$omp parallel do schedule(dynamic, 4) reduction(+:total)
  do i = n - 40, n - 97, -3
    total = total + 1
  end do
  !$omp end parallel do
  print *, total
  if (total /= 3*5050 + 30 + 20) stop 1
end program do_dynamic_f
