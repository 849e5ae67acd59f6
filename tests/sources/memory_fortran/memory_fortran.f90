! The heap from Fortran: allocate and deallocate call malloc and free in the object itself.
!# Flags: -O1 --instr-memory
!# Expect: memory.sites[fill_].allocations = 20
!# Expect: memory.sites[fill_].allocated_bytes = 20*8*1000
!# Expect: memory.sites[fill_].live_high_water_bytes = 8*1000
!# Expect: memory.sites[fill_].live_blocks = 0
!# Expect@x86_64-linux: memory.allocations = 20
!# Expect@x86_64-linux: memory.frees = 20
subroutine fill(total)
    real(8), intent(inout) :: total
    real(8), allocatable :: a(:)
    allocate(a(1000))
    a = 1.0d0
    total = total + sum(a)
    deallocate(a)
end subroutine

program memory_fortran
    real(8) :: total
    integer :: i
    total = 0
    do i = 1, 20
        call fill(total)
    end do
    if (total /= 20000.0d0) stop 1
end program
