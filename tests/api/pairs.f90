! `pairs PAIRS INSIDE OUTSIDE [CONFIG]`: what pairs.c does, in Fortran. The names of regions are variables that change.
program pairs
  use instr
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer :: turns, inside, outside, turn, status, started, stopped
  character(len=300) :: config

  turns = number(1)
  inside = number(2)
  outside = number(3)
  call get_command_argument(4, config)
  started = 0
  stopped = 0
  call events(6, outside)
  do turn = 0, turns - 1
    if (mod(turn, 2) == 0) then
      if (config /= '') then
        call instr_start(config, status)
      else
        call instr_start(status=status)
      end if
      started = started + status
      call instr_start(status=status)
      started = started + status
      !$omp parallel num_threads(2)
      call events(5, inside)
      !$omp end parallel
      call instr_stop(status)
      stopped = stopped + status
      call instr_stop()
      !$omp parallel num_threads(2)
      call events(6, outside)
      !$omp end parallel
    else
      !$omp parallel num_threads(2) private(status) reduction(+ : started, stopped)
      call instr_start(status=status)
      started = started + status
      !$omp barrier
      call events(5, inside)
      !$omp barrier
      call instr_stop(status)
      stopped = stopped + status
      !$omp barrier
      call events(6, outside)
      !$omp end parallel
    end if
  end do
  print '(a,i0,a,i0)', 'started ', started, ' stopped ', stopped

contains

  integer function number(at)
    integer, intent(in) :: at
    character(len=20) :: word
    integer :: trouble
    call get_command_argument(at, word)
    read (word, *, iostat=trouble) number
    if (trouble /= 0) number = 0
  end function

  subroutine events(type, count)
    integer, intent(in) :: type, count
    character(len=12) :: name
    integer :: i
    do i = 1, count
      if (mod(i, 2) == 0) then
        name = 'even'
        call instr_event(type, i)
      else
        name = 'odd'
        call instr_event(type, int(i, int64))
      end if
      call instr_region_begin(name)
      name = 'changed'
      call instr_counter('left', count - i)
      call instr_region_end()
    end do
  end subroutine

end program
