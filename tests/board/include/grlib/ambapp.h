/* bsps/include/grlib/ambapp.h: devices of the plug&play buses. */
#ifndef BOARD_AMBAPP_H
#define BOARD_AMBAPP_H

struct ambapp_common_info {
    unsigned char irq;
    unsigned char ver;
    unsigned char ahbidx;
};
struct ambapp_apb_info {
    struct ambapp_common_info common;
    unsigned int start;
    unsigned int mask;
};
struct ambapp_dev {
    struct ambapp_dev *next;
    struct ambapp_dev *prev;
    struct ambapp_dev *children;
    void *owner;
    unsigned char dev_type;
    unsigned char vendor;
    unsigned short device;
    struct ambapp_apb_info *devinfo;
};
struct ambapp_bus;

#define OPTIONS_APB_SLVS 0x00000004
#define OPTIONS_FREE 0x00000010
#define OPTIONS_ALLOCATED 0x00000020
#define OPTIONS_ALL (OPTIONS_FREE | OPTIONS_ALLOCATED)
#define DEV_TO_APB(adev) ((adev)->devinfo)

typedef int (*ambapp_func_t)(struct ambapp_dev *dev, int index, void *arg);
extern struct ambapp_bus *ambapp_plb(void);
extern int ambapp_for_each(struct ambapp_bus *abus, unsigned int options, int vendor, int device, ambapp_func_t func, void *arg);
extern int ambapp_find_by_idx(struct ambapp_dev *dev, int index, void *pcount);

#endif
