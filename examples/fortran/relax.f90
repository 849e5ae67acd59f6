! A small Fortran OpenMP program: a dynamic loop, tasks, a named critical section and a lock.
! It knows its results beforehand (sums of arithmetic series) and checks them.
program relax
  use omp_lib
  implicit none
  integer, parameter :: rows = 400, columns = 300, parts = 16
  integer(kind=8) :: total, by_tasks, by_lock, expected
  integer(kind=8) :: grid(columns, rows)
  integer(kind=omp_lock_kind) :: lock
  integer :: i, part
  logical :: right

  ! Element (j, i) is i + j: the sum over all has a closed form.
  expected = int(columns, 8) * rows * (rows + 1) / 2 + int(rows, 8) * columns * (columns + 1) / 2

  total = 0
  !$omp parallel
  !$omp do schedule(dynamic, 8)
  do i = 1, rows
    call fill(grid(:, i), i)
  end do
  !$omp end do
  call add_rows()
  !$omp end parallel

  by_tasks = 0
  !$omp parallel
  !$omp single
  do part = 1, parts
    !$omp task firstprivate(part) shared(grid, by_tasks)
    call add_part(part)
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel

  call omp_init_lock(lock)
  by_lock = 0
  !$omp parallel do schedule(guided)
  do i = 1, rows
    call omp_set_lock(lock)
    by_lock = by_lock + sum(grid(:, i))
    call omp_unset_lock(lock)
  end do
  !$omp end parallel do
  call omp_destroy_lock(lock)

  print '(a,i0,a,i0)', 'relax: sum of ', rows * columns, ' elements: ', total
  right = total == expected .and. by_tasks == expected .and. by_lock == expected
  if (.not. right) then
    print '(a,3(i0,1x),a,i0)', 'result check: FAILED: ', total, by_tasks, by_lock, 'expected ', expected
    stop 1
  end if
  print '(a)', 'result check: passed'

contains

  subroutine fill(row, i)
    integer(kind=8), intent(out) :: row(columns)
    integer, intent(in) :: i
    integer :: j
    do j = 1, columns
      row(j) = i + j
    end do
  end subroutine

  ! Called by every thread of the team: shares the rows out, then adds up under a named lock.
  subroutine add_rows()
    integer(kind=8) :: mine
    integer :: i
    mine = 0
    !$omp do schedule(dynamic, 16)
    do i = 1, rows
      mine = mine + sum(grid(:, i))
    end do
    !$omp end do nowait
    !$omp critical (sum_up)
    total = total + mine
    !$omp end critical (sum_up)
  end subroutine

  subroutine add_part(part)
    integer, intent(in) :: part
    integer(kind=8) :: mine
    mine = sum(grid(:, (part - 1) * rows / parts + 1:part * rows / parts))
    !$omp critical (sum_up)
    by_tasks = by_tasks + mine
    !$omp end critical (sum_up)
  end subroutine

end program
