/* Power and energy meters of Linux: powercap zones (RAPL), the power/ events of perf, a management controller's (DCMI). */
#ifndef INSTR_PLATFORM_LINUX_ENERGY_H
#define INSTR_PLATFORM_LINUX_ENERGY_H

void instr_discover_powercap(void);
void instr_discover_perf_energy(void);
void instr_discover_dcmi(void);

#endif
