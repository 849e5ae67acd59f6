/* Changes the files of a fixture tree step by step: lines "PATH TEXT" write, "PATH" alone removes, "!" is a region (sensors are read at its
 * begin and end). The tree is the second argument, the steps the first. */
#include <instr/instr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char line[512];
    char path[1024];
    FILE *steps = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (steps == NULL)
        return 1;
    while (fgets(line, sizeof line, steps) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "!") == 0) {
            instr_region_begin("step");
            instr_region_end();
            continue;
        }
        char *text = strchr(line, ' ');
        if (text != NULL)
            *text++ = '\0';
        snprintf(path, sizeof path, "%s/%s", argv[2], line);
        if (text == NULL) {
            if (unlink(path) != 0)
                return 2;
            continue;
        }
        FILE *file = fopen(path, "w");
        if (file == NULL || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0)
            return 3;
    }
    fclose(steps);
    return 0;
}
