! Host teams: a league of 3, a region of 2 threads in each; threadprivate with copyin in a region of 3.
!# Construct: host teams; threadprivate, copyin
!# Env: KMP_TEAMS_THREAD_LIMIT=64
!# Events: parallel_begin{kind&255=3} = 1
!# Events: parallel_begin{kind&255=0} = 3 + 1
!# Events: implicit_begin = 3 + 3*2 + 3
program teams_f
  use omp_lib
  implicit none
  integer :: threads, total
  integer, save :: mine = 0
  !$omp threadprivate(mine)
  threads = 0
  total = 0
  !$omp teams num_teams(3) thread_limit(2)
  !$omp parallel num_threads(2)
  !$omp atomic
  threads = threads + 1
  !$omp end parallel
  !$omp end teams
  mine = 10
  !$omp parallel copyin(mine)
  mine = mine + omp_get_thread_num()
  !$omp atomic
  total = total + mine
  !$omp end parallel
  print *, threads, total
  if (threads /= 6 .or. total /= 33) stop 1
end program teams_f
