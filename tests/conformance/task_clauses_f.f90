! Tasks: 10 plain, 5 if(.false.), 4 final with a child, 4 untied, 2 with priority.
!# Construct: task; if(0); final; untied; priority
!# Unseen@libomp: [priority] libomp reports untied, final and undeferred tasks, no mergeable and no priority
!# Env: OMP_NUM_THREADS=2
!# Events: task_create = 10 + 5 + 4*2 + 4 + 2
!# Events: task_begin = 10 + 5 + 4*2 + 4 + 2
!# Events: task_end = 10 + 5 + 4*2 + 4 + 2
!# Events@gcc: task_create{flags&0x8000=0x8000} = 5
!# Events@gcc: task_create{flags&1=1} = 4
program task_clauses_f
  implicit none
  integer :: i, done
  logical :: off
  done = 0
  off = .false.
  !$omp parallel
  !$omp single
  do i = 1, 10
    !$omp task
    call add()
    !$omp end task
  end do
  do i = 1, 5
    !$omp task if(off)
    call add()
    !$omp end task
  end do
  do i = 1, 4
    !$omp task final(.true.)
    call add()
    !$omp task
    call add()
    !$omp end task
    !$omp end task
  end do
  do i = 1, 4
    !$omp task untied
    call add()
    !$omp end task
  end do
  do i = 1, 2
    !$omp task priority(i)
    call add()
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  print *, done
  if (done /= 29) stop 1
contains
  subroutine add()
    !$omp atomic
    done = done + 1
  end subroutine add
end program task_clauses_f
