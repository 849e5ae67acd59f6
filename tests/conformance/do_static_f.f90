! Static do loops: inline for GCC, inferred from the getters, one pair a thread. The loop in the middle of a region has a barrier.
!# Construct: loop, static
!# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
!# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
!# Events: parallel_begin = 3
!# Events@gcc: static_loop = 3*3
!# Events: loop_begin = 0
!# Events: sync_begin{kind=1} + sync_begin{kind=2} = 3
program do_static_f
  implicit none
  integer :: i, after, hits(60)
  hits = 0
  after = 0
  !$omp parallel do
  do i = 1, 60
    hits(i) = hits(i) + 1
  end do
  !$omp end parallel do
  !$omp parallel do schedule(static, 4)
  do i = 60, 1, -3
    hits(i) = hits(i) + 1
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp do schedule(static)
  do i = 1, 60
    hits(i) = hits(i) + 1
  end do
  !$omp end do
  !$omp atomic
  after = after + 1
  !$omp end parallel
  print *, sum(hits), after
  if (sum(hits) /= 140 .or. after /= 3) stop 1
end program do_static_f
