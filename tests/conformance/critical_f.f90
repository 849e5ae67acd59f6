! critical without and with a name, a barrier each of 4 turns, an atomic on extended precision (10 turns) where the target's compiler has the kind.
!# Construct: critical; barrier; atomic
!# Unseen@libomp: [critical] libomp reports named and unnamed critical sections alike, each by the address of its lock: no names
!# Events: mutex_acquired{kind=1} + mutex_acquired{kind=2} = 3*(10 + 5)
!# Events: mutex_released{kind=1} + mutex_released{kind=2} = 3*(10 + 5)
!# Events@libgomp: mutex_acquired{kind=1} = 3*10
!# Events@libgomp: mutex_acquired{kind=2} = 3*5
!# Events: sync_begin{kind=1} = 3*4
!# Events: mutex_acquired{kind=3} = 3*6
program critical_f
  implicit none
  integer, parameter :: wide = selected_real_kind(18)
  integer :: i, plain, named
  real(wide) :: x
  plain = 0
  named = 0
  x = 0
  !$omp parallel private(i)
  do i = 1, 10
    !$omp critical
    plain = plain + 1
    !$omp end critical
  end do
  do i = 1, 5
    !$omp critical(alpha)
    named = named + 1
    !$omp end critical(alpha)
  end do
  do i = 1, 4
    !$omp barrier
  end do
  do i = 1, 6
    !$omp atomic
    x = x + 1
  end do
  !$omp end parallel
  print *, plain, named, int(x)
  if (plain /= 30 .or. named /= 15 .or. int(x) /= 18) stop 1
end program critical_f
