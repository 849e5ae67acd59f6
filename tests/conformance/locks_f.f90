! Locks by the Fortran interface (symbols of their own), see locks.c.
!# Construct: locks; nest locks
!# Events: mutex_acquired{kind=5} = 3*20 + 1
!# Events: mutex_released{kind=5} = 3*20 + 1
!# Events: mutex_failed{kind=5} = 1
!# Events: mutex_acquired{kind=6} = 3*5*2
!# Events: mutex_released{kind=6} = 3*5*2
program locks_f
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer :: i, total, nested
  logical :: first, second
  total = 0
  nested = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  !$omp parallel private(i)
  do i = 1, 20
    call omp_set_lock(lock)
    total = total + 1
    call omp_unset_lock(lock)
  end do
  do i = 1, 5
    call omp_set_nest_lock(nest)
    call omp_set_nest_lock(nest)
    nested = nested + 1
    call omp_unset_nest_lock(nest)
    call omp_unset_nest_lock(nest)
  end do
  !$omp end parallel
  first = omp_test_lock(lock)
  second = omp_test_lock(lock)
  call omp_unset_lock(lock)
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  print *, total, nested, first, second
  if (total /= 60 .or. nested /= 15 .or. .not. first .or. second) stop 1
end program locks_f
