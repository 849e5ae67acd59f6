! taskloop: num_tasks(6) of 60, grainsize(4) of 40: 10, collapse of 6 x 5 with num_tasks(3), reduction with num_tasks(5).
!# Construct: taskloop
!# Env: OMP_NUM_THREADS=2
!# Events: taskloop_begin = 4
!# Events: taskloop_end = 4
!# Events: taskloop_task + task_create = 6 + 10 + 3 + 5
!# Events: task_begin = 6 + 10 + 3 + 5
program taskloop_f
  implicit none
  integer :: i, j, total, own
  total = 0
  own = 0
  !$omp parallel
  !$omp single
  !$omp taskloop num_tasks(6) shared(total)
  do i = 1, 60
    !$omp atomic
    total = total + i
  end do
  !$omp end taskloop
  !$omp taskloop grainsize(4) shared(total)
  do i = 40, 1, -1
    !$omp atomic
    total = total + i
  end do
  !$omp end taskloop
  !$omp taskloop collapse(2) num_tasks(3) shared(total)
  do i = 1, 6
    do j = 1, 5
      !$omp atomic
      total = total + 1
    end do
  end do
  !$omp end taskloop
  !$omp taskloop num_tasks(5) reduction(+:own)
  do i = 1, 40
    own = own + i
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  print *, total, own
  if (total /= 1830 + 820 + 30 .or. own /= 820) stop 1
end program taskloop_f
