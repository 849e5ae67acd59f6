! workshare: GCC turns each array assignment into a single or a static loop; whatever it makes, the region and its result stay.
!# Construct: workshare
!# Events: parallel_begin = 1
!# Events: implicit_begin = 3
program workshare_f
  implicit none
  integer :: a(30), b(30)
  a = 1
  b = 2
  !$omp parallel workshare
  a = a + b
  b = a * 2
  !$omp end parallel workshare
  print *, sum(a), sum(b)
  if (sum(a) /= 90 .or. sum(b) /= 180) stop 1
end program workshare_f
