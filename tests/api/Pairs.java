// `Pairs PAIRS INSIDE OUTSIDE [CONFIG]`: what pairs.c does, on two threads of Java. Every region is left by an exception.
import instr.Instr;

public class Pairs {
    static void leave(int type, int number) {
        try (Instr.Region here = Instr.region(type == 5 ? "inside" : "outside")) {
            Instr.event(type, number);
            throw new IllegalStateException("left");
        }
    }

    static void events(int type, int count) {
        for (int number = 1; number <= count; number++) {
            try {
                leave(type, number);
            } catch (IllegalStateException left) {
                // As it is to be.
            }
        }
    }

    static void onTwoThreads(int type, int count) throws InterruptedException {
        Thread other = new Thread(() -> events(type, count));
        other.start();
        events(type, count);
        other.join();
    }

    public static void main(String[] words) throws InterruptedException {
        int pairs = Integer.parseInt(words[0]), inside = Integer.parseInt(words[1]), outside = Integer.parseInt(words[2]);
        int started = 0;
        events(6, outside);
        for (int pair = 0; pair < pairs; pair++) {
            started += Instr.start(pair == 0 && words.length > 3 ? words[3] : null) + Instr.start(null);
            onTwoThreads(5, inside);
            Instr.counter("pair", pair);
            Instr.stop();
            onTwoThreads(6, outside);
        }
        System.out.println("started " + started + " stopped " + Instr.stop());
    }
}
