! ordered in dynamic chunks of 4 out of 24: 6 chunks, 24 times the ordered lock; doacross: 12 posts, 11 waits; 6 x 5: 30 posts, 25 waits.
!# Construct: loop, ordered; loop, doacross
!# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
!# Unseen@libomp: [loop, doacross] libomp reports that an iteration is waited for, not for how long
!# Events: loop_begin = 3*3
!# Events: mutex_acquired{kind=4} = 24
!# Events: doacross{kind=1} = 12 + 30
!# Events: doacross{kind=2} = 11 + 25
!# Events@libgomp: sync_begin{kind=8} = 11 + 25
!# Events@libgomp: chunk_begin = 6 + 3 + 3
program do_ordered_f
  implicit none
  integer :: i, j, n, next, order(24), a(0:12), b(0:6, 5)
  n = 24 + command_argument_count()
  next = 0
  a = 0
  b = 0
  !$omp parallel do ordered schedule(dynamic, 4)
  do i = 1, n
    !$omp ordered
    next = next + 1
    order(next) = i
    !$omp end ordered
  end do
  !$omp end parallel do
  !$omp parallel do ordered(1) schedule(static)
  do i = 1, 12
    !$omp ordered depend(sink: i - 1)
    a(i) = a(i - 1) + 1
    !$omp ordered depend(source)
  end do
  !$omp end parallel do
  !$omp parallel do ordered(2) schedule(static)
  do i = 1, 6
    do j = 1, 5
      !$omp ordered depend(sink: i - 1, j)
      b(i, j) = b(i - 1, j) + 1
      !$omp ordered depend(source)
    end do
  end do
  !$omp end parallel do
  print *, next, a(12), b(6, 5)
  if (any(order /= [(i, i = 1, 24)]) .or. a(12) /= 12 .or. b(6, 5) /= 6) stop 1
end program do_ordered_f
