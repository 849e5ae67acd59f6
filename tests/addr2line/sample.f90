! A module procedure with an internal function, an outlined loop.
module numbers
contains
  subroutine work(a, n)
    integer :: n, i
    real :: a(n)
    !$omp parallel do
    do i = 1, n
      a(i) = a(i) * 2 + helper(i)
    end do
  contains
    real function helper(k)
      integer :: k
      helper = k * 1.5
    end function
  end subroutine
end module

program sample
  use numbers
  real :: a(100)
  a = 1
  call work(a, 100)
  print *, sum(a)
end program
