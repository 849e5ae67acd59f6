! The public interface of instr for Fortran: regions, events and counters on the time line of a traced program, and when it is recorded.
!
! Compile it with instr_fortran.c, which lies beside it, and with your sources:
!     instr-cc gfortran -fopenmp instr.f90 instr_fortran.c app.f90 -o app
! Built without instr-cc, the same calls record under `instr run` and do nothing elsewhere. They may come from any thread.
module instr
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64
  implicit none
  private
  public :: instr_event, instr_region_begin, instr_region_end, instr_counter, instr_start, instr_stop, instr_flush

  ! A status of instr_start: the program is not recorded; a setting was refused, and nothing has changed.
  integer, parameter, public :: instr_not_recorded = -1, instr_refused = -2

  ! call instr_event(type, value): one event of the calling thread, type and value as in a Paraver event. Types from 1 to 19999999.
  interface instr_event
    module procedure event32, event64
  end interface

  ! call instr_counter(name, value): what a counter of the program is now.
  interface instr_counter
    module procedure counter32, counter64
  end interface

  interface
    subroutine c_event(type, value) bind(C, name='instr_fortran_event')
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: type
      integer(c_int64_t), value :: value
    end subroutine

    subroutine c_region_begin(name, length) bind(C, name='instr_fortran_region_begin')
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine

    subroutine c_region_end() bind(C, name='instr_fortran_region_end')
    end subroutine

    subroutine c_counter(name, length, value) bind(C, name='instr_fortran_counter')
      import :: c_char, c_int64_t, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
      integer(c_int64_t), value :: value
    end subroutine

    function c_start(config, length) result(status) bind(C, name='instr_fortran_start')
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: config(*)
      integer(c_size_t), value :: length
      integer(c_int) :: status
    end function

    function c_stop() result(status) bind(C, name='instr_fortran_stop')
      import :: c_int
      integer(c_int) :: status
    end function

    function c_flush() result(status) bind(C, name='instr_fortran_flush')
      import :: c_int
      integer(c_int) :: status
    end function
  end interface

contains

  subroutine event32(type, value)
    integer(int32), intent(in) :: type, value
    call c_event(type, int(value, c_int64_t))
  end subroutine

  subroutine event64(type, value)
    integer(int32), intent(in) :: type
    integer(int64), intent(in) :: value
    call c_event(type, value)
  end subroutine

  ! Begins a region of the calling thread; regions nest. Blanks at the end of the name are not part of it.
  subroutine instr_region_begin(name)
    character(len=*), intent(in) :: name
    call c_region_begin(name, len_trim(name, c_size_t))
  end subroutine

  ! Ends the innermost region of the calling thread.
  subroutine instr_region_end()
    call c_region_end()
  end subroutine

  subroutine counter32(name, value)
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: value
    call c_counter(name, len_trim(name, c_size_t), int(value, c_int64_t))
  end subroutine

  subroutine counter64(name, value)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: value
    call c_counter(name, len_trim(name, c_size_t), value)
  end subroutine

  ! Begins or resumes recording, with settings as the environment has them if `config` is there: 'INSTR_MEMORY=0; INSTR_PTHREAD=off'.
  ! `status` is 0 when the program is recorded afterwards, else instr_not_recorded or instr_refused.
  subroutine instr_start(config, status)
    character(len=*), intent(in), optional :: config
    integer, intent(out), optional :: status
    integer(c_int) :: found
    if (present(config)) then
      found = c_start(config, len_trim(config, c_size_t))
    else
      found = c_start('', 0_c_size_t)
    end if
    if (present(status)) status = int(found)
  end subroutine

  ! Stops recording on all threads until the next start. `status` is 0.
  subroutine instr_stop(status)
    integer, intent(out), optional :: status
    integer(c_int) :: found
    found = c_stop()
    if (present(status)) status = int(found)
  end subroutine

  ! Writes what the calling thread has recorded so far to its file. `status` is 0 when done, -1 where nothing is recorded.
  subroutine instr_flush(status)
    integer, intent(out), optional :: status
    integer(c_int) :: found
    found = c_flush()
    if (present(status)) status = int(found)
  end subroutine

end module
