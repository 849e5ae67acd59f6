package instr;

import java.util.concurrent.ConcurrentHashMap;

/**
 * Marks and chooses what is recorded of a Java program under {@code instr run}; see docs/api.md. Needs the library {@code libinstr_java.so}, which instr_java.c
 * is compiled to, in {@code java.library.path}; without it, and without a runtime, every call does nothing.
 */
public final class Instr {
    /** What {@link #start} returns when the program is not recorded. */
    public static final int NOT_RECORDED = -1;
    /** What {@link #start} returns when a setting is refused. */
    public static final int REFUSED = -2;

    private static final int MOST_NAMES = 4096;
    private static final String SURPLUS = "(more than 4096 names)";
    private static final boolean LOADED = load();
    /** Copies that stay: the runtime knows names by their addresses. */
    private static final ConcurrentHashMap<String, Long> NAMES = new ConcurrentHashMap<>();

    private Instr() {}

    private static boolean load() {
        try {
            System.loadLibrary("instr_java");
            return served();
        } catch (UnsatisfiedLinkError | SecurityException missing) {
            return false;
        }
    }

    /** Whether there is a runtime; not whether it records just now. */
    public static boolean isRecorded() {
        return LOADED;
    }

    /** One event, as Paraver has them. */
    public static void event(int type, long value) {
        if (LOADED) event0(type, value);
    }

    /** What a counter of the program is now. */
    public static void counter(String name, long value) {
        if (LOADED) counter0(kept(name), value);
    }

    /** A region of the calling thread. */
    public static final class Region implements AutoCloseable {
        private Region() {}

        /** Ends the innermost region of the calling thread. */
        @Override
        public void close() {
            if (LOADED) regionEnd0();
        }
    }

    private static final Region REGION = new Region();

    /** Begins a region: {@code try (var here = Instr.region("step")) { work(); }}. */
    public static Region region(String name) {
        if (LOADED) regionBegin0(kept(name));
        return REGION;
    }

    /** Begins or resumes recording: 0, {@link #NOT_RECORDED} or {@link #REFUSED}. {@code config}: settings as in C, or null. */
    public static int start(String config) {
        return LOADED ? start0(config) : NOT_RECORDED;
    }

    /** Ends recording on all threads, up to the next start. */
    public static int stop() {
        return LOADED ? stop0() : 0;
    }

    /** Writes what the calling thread has recorded; 0, or -1 where nothing is recorded. */
    public static int flush() {
        return LOADED ? flush0() : -1;
    }

    private static long kept(String name) {
        Long found = NAMES.get(name);
        if (found != null) return found;
        String key = NAMES.size() < MOST_NAMES ? name : SURPLUS;
        return NAMES.computeIfAbsent(key, Instr::keep0);
    }

    private static native boolean served();

    private static native long keep0(String name);

    private static native void event0(int type, long value);

    private static native void counter0(long name, long value);

    private static native void regionBegin0(long name);

    private static native void regionEnd0();

    private static native int start0(String config);

    private static native int stop0();

    private static native int flush0();
}
