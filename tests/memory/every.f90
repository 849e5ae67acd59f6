! The heap from Fortran, in rounds, as many as the first argument says. Prints what one round asks for itself: allocations frees bytes. With
! a second argument the library allocates too: files, records, temporaries of functions of its own.
module every_round
    implicit none
    integer, parameter :: real8 = kind(1.0d0)
    type part
        real(real8), allocatable :: values(:)
        character(:), allocatable :: name
    end type part
    integer(8) :: allocations, frees, bytes
    real(real8) :: total = 0
contains
    subroutine pair(size)
        integer, intent(in) :: size
        allocations = allocations + 1
        frees = frees + 1
        bytes = bytes + size
    end subroutine pair

    subroutine arrays(n)
        integer, intent(in) :: n
        real(real8), allocatable :: a(:), b(:, :)
        integer, pointer :: p(:)
        integer :: state
        allocate (a(n), b(n, 3))
        call pair(8*n)
        call pair(24*n)
        a = 1
        b = 2
        allocate (p(2*n))
        call pair(8*n)
        p = 3
        total = total + sum(a) + sum(b) + sum(p)
        deallocate (p)
        deallocate (a, stat=state)
        allocate (a(0)) ! one byte
        call pair(1)
        total = total + size(a)
    end subroutine arrays ! gives back a and b

    ! An assignment gives the left side the right side's shape: realloc.
    subroutine grows(n)
        integer, intent(in) :: n
        real(real8), allocatable :: a(:)
        integer :: i
        allocate (a(n))
        call pair(8*n)
        a = 1
        do i = 2, 4
            a = spread_of(i*n)
            call pair(8*i*n)
        end do
        total = total + sum(a)
    end subroutine grows

    ! On the caller's stack.
    function spread_of(n) result(a)
        integer, intent(in) :: n
        real(real8) :: a(n)
        a = n
    end function spread_of

    subroutine parts(n)
        integer, intent(in) :: n
        type(part), allocatable :: all(:), copy(:)
        integer :: i
        allocate (all(n))
        do i = 1, n
            allocate (all(i)%values(i))
            call pair(8*i)
            all(i)%values = i
            allocate (character(10 + i) :: all(i)%name)
            call pair(10 + i)
            all(i)%name(:) = 'x'
        end do
        call pair(n*storage_size(all)/8)
        allocate (copy(n), source=all) ! every part with it
        call pair(n*storage_size(all)/8)
        do i = 1, n
            call pair(8*i)
            call pair(10 + i)
        end do
        total = total + sum(copy(n)%values)
        call move(all, copy)
    end subroutine parts

    ! Without a copy.
    subroutine move(from, to)
        type(part), allocatable, intent(inout) :: from(:), to(:)
        call move_alloc(from, to)
    end subroutine move

    subroutine library(round)
        integer, intent(in) :: round
        character(:), allocatable :: text
        character(200) :: line
        integer :: unit
        real(real8) :: square(40, 40), other(40, 40)
        open (newunit=unit, status='scratch', form='formatted')
        write (unit, '(a, i0)') repeat('line', 20 + round), round
        rewind (unit)
        read (unit, '(a)') line
        close (unit)
        text = trim(line)//repeat('-', round + 1)//trim(line)
        square = real(len(text), real8)
        other = matmul(transpose(square), square)
        total = total + sum(pack(other, other > 0)) + sum(reshape(other, [1600]))
    end subroutine library
end module every_round

program every
    use every_round
    implicit none
    character(20) :: word
    integer :: i, rounds
    call get_command_argument(1, word)
    read (word, *) rounds
    do i = 1, rounds
        allocations = 0
        frees = 0
        bytes = 0
        call arrays(100)
        call grows(50)
        call parts(7)
        if (command_argument_count() > 1) call library(i)
    end do
    if (total < 0) stop 1
    print '(i0, 1x, i0, 1x, i0)', allocations, frees, bytes
end program every
