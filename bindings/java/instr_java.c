/*
 * What Instr.java calls. Compiled plainly the calls look once for the runtime that `instr run` brings; compiled and linked by instr-cc they also
 * record without it.
 *
 *   gcc -shared -fPIC -I$JAVA_HOME/include -I$JAVA_HOME/include/linux -I$(instr config --includedir) instr_java.c -o libinstr_java.so
 */
#if !defined(__INSTR__) && !defined(INSTR_DYNAMIC)
#define INSTR_DYNAMIC
#endif
#include <instr/instr.h>

#include <jni.h>
#include <stdlib.h>
#include <string.h>

#define CALL(result, name) JNIEXPORT result JNICALL Java_instr_Instr_##name

CALL(jboolean, served)(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
#ifdef __INSTR__
    return &instr_region_begin != NULL;
#else
    static void *place;
    return instr_i_find(&place, "instr_region_begin") != NULL;
#endif
}

/* A copy that stays, as UTF-8; 0 where there is no memory. */
CALL(jlong, keep0)(JNIEnv *env, jclass class, jstring name)
{
    (void)class;
    const char *const text = name != NULL ? (*env)->GetStringUTFChars(env, name, NULL) : NULL;
    if (text == NULL)
        return 0;
    char *const copy = strdup(text);
    (*env)->ReleaseStringUTFChars(env, name, text);
    return (jlong)(intptr_t)copy;
}

static const char *text_of(jlong name)
{
    return name != 0 ? (const char *)(intptr_t)name : "(no memory for the name)";
}

CALL(void, event0)(JNIEnv *env, jclass class, jint type, jlong value)
{
    (void)env, (void)class;
    instr_event((uint32_t)type, (uint64_t)value);
}

CALL(void, counter0)(JNIEnv *env, jclass class, jlong name, jlong value)
{
    (void)env, (void)class;
    instr_counter(text_of(name), value);
}

CALL(void, regionBegin0)(JNIEnv *env, jclass class, jlong name)
{
    (void)env, (void)class;
    instr_region_begin(text_of(name));
}

CALL(void, regionEnd0)(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    instr_region_end();
}

CALL(jint, start0)(JNIEnv *env, jclass class, jstring config)
{
    (void)class;
    if (config == NULL)
        return instr_start(NULL);
    const char *const text = (*env)->GetStringUTFChars(env, config, NULL);
    if (text == NULL)
        return INSTR_REFUSED;
    const int result = instr_start(text);
    (*env)->ReleaseStringUTFChars(env, config, text);
    return result;
}

CALL(jint, stop0)(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    return instr_stop();
}

CALL(jint, flush0)(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    return instr_flush();
}
