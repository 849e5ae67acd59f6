! Depend objects: inout by object twice, then updated to in, two readers by object: out -> inout 1, inout -> inout 1, inout -> 2 readers 2.
!# Construct: depend(depobj)
!# Env: OMP_NUM_THREADS=2
!# SkipTarget: sparc-linux gfortran's only omp_lib has depend objects of 16 bytes (omp_depend_kind), an integer that 32-bit targets lack
!# Events: task_create = 1 + 2 + 2
!# Events: task_begin = 1 + 2 + 2
!# Entries: task_create{kind=2} = 1 + 2
!# Entries: task_create{kind=1} = 2
!# Edges: 1 + 1 + 2
program depobj_f
  use omp_lib
  implicit none
  integer :: i, x, bad
  integer(omp_depend_kind) :: object
  x = 0
  bad = 0
  !$omp parallel
  !$omp single
  !$omp task depend(out: x) shared(x)
  x = 1
  !$omp end task
  !$omp depobj(object) depend(inout: x)
  do i = 1, 2
    !$omp task depend(depobj: object) shared(x)
    x = x * 2
    !$omp end task
  end do
  !$omp depobj(object) update(in)
  do i = 1, 2
    !$omp task depend(depobj: object) shared(x, bad)
    if (x /= 4) then
      !$omp atomic write
      bad = 1
    end if
    !$omp end task
  end do
  !$omp taskwait
  !$omp depobj(object) destroy
  !$omp end single
  !$omp end parallel
  print *, x, bad
  if (x /= 4 .or. bad /= 0) stop 1
end program depobj_f
