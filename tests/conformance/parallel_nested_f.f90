! Regions in regions: 1 of 2, 2 of 2; a recursive procedure: 1 + 2 regions of 2.
!# Construct: nested regions
!# Env: OMP_MAX_ACTIVE_LEVELS=3
!# Events: parallel_begin = 1 + 2 + 1 + 2
!# Events: implicit_begin = 2*(1 + 2 + 1 + 2)
program parallel_nested_f
  implicit none
  integer :: hits
  hits = 0
  !$omp parallel num_threads(2)
  !$omp parallel num_threads(2)
  !$omp atomic
  hits = hits + 1
  !$omp end parallel
  !$omp end parallel
  call descend(2)
  print *, hits
  if (hits /= 8) stop 1
contains
  recursive subroutine descend(depth)
    integer, intent(in) :: depth
    if (depth == 0) then
      !$omp atomic
      hits = hits + 1
      return
    end if
    !$omp parallel num_threads(2)
    call descend(depth - 1)
    !$omp end parallel
  end subroutine descend
end program parallel_nested_f
