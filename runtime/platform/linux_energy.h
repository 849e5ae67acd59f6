/* Energy meters of Linux: powercap zones (RAPL) and the power/ events of perf. */
#ifndef INSTR_LINUX_ENERGY_H
#define INSTR_LINUX_ENERGY_H

void instr_discover_powercap(void);
void instr_discover_perf_energy(void);

#endif
