! Cancellation: a region, in which each of the 3 threads comes to the construct first: 3 cancels; a taskgroup by a task that runs at once.
!# Construct: cancel parallel; cancel taskgroup
!# Env: OMP_CANCELLATION=true
!# Events: parallel_begin = 2
!# Events: cancel{kind=1,flags&3=3} = 3
!# Events: cancel{kind=8,flags&3=3} = 1
!# Events: task_create = 1
!# Events: task_begin = 1
program cancel_f
  implicit none
  integer :: after, done
  logical :: off
  after = 0
  done = 0
  off = .false.
  !$omp parallel
  !$omp cancel parallel
  !$omp atomic
  after = after + 1
  !$omp end parallel
  !$omp parallel
  !$omp single
  !$omp taskgroup
  !$omp task if(off) shared(done)
  !$omp cancel taskgroup
  done = 1
  !$omp end task
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  print *, after, done
  if (after /= 0 .or. done /= 0) stop 1
end program cancel_f
