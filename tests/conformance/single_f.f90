! single with barrier 5 turns, nowait 4 turns, copyprivate 3 turns (a barrier too); master invisible.
!# Construct: single; single copyprivate; masked, master
!# Unseen@gcc,gcc-libomp: [masked, master] GCC compares thread numbers for masked and master: nothing is called
!# Unseen@gcc,gcc-libomp: [single] the end of a single block is not reported by GCC's calls
!# Unseen@gcc-libomp: [single copyprivate] GCC's copyprivate shows as barriers: libomp does not report who executed the block
!# Events: parallel_begin = 3
!# Events@gcc: single{executor=1} = 5 + 4 + 3
!# Events@gcc: single = (5 + 4 + 3)*3
!# Events@gcc-libomp: single{executor=1} = 5 + 4
!# Events@gcc-libomp: single = (5 + 4)*3
!# Events@gcc: sync_begin{kind=1} + sync_begin{kind=2} = (5 + 3)*3
!# Events@gcc-libomp: sync_begin{kind=1} + sync_begin{kind=2} >= (5 + 3)*3
!# Events: masked_begin = 0
program single_f
  implicit none
  integer :: i, blocks, v, received
  blocks = 0
  received = 0
  !$omp parallel private(i)
  do i = 1, 5
    !$omp single
    blocks = blocks + 1
    !$omp end single
  end do
  !$omp master
  blocks = blocks + 100
  !$omp end master
  !$omp end parallel
  !$omp parallel private(i)
  do i = 1, 4
    !$omp single
    !$omp atomic
    blocks = blocks + 1
    !$omp end single nowait
  end do
  !$omp end parallel
  !$omp parallel private(i, v)
  do i = 1, 3
    !$omp single
    v = i
    !$omp end single copyprivate(v)
    !$omp atomic
    received = received + v
  end do
  !$omp end parallel
  print *, blocks, received
  if (blocks /= 109 .or. received /= 18) stop 1
end program single_f
