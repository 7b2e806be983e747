#define POINTERHOLDER_TRANSITION 4
#include "CQPDFCheck.h"

#include <cstring>
#include <exception>
#include <new>
#include <qpdf/Pl_Discard.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFPageObjectHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <set>
#include <vector>

namespace {

class DiscardedContents : public QPDFObjectHandle::ParserCallbacks {
  public:
    void handleObject(QPDFObjectHandle, size_t, size_t) override {}
    void handleEOF() override {}
};

int damaged(char *reason, size_t capacity, const char *text) {
    std::strncpy(reason, text, capacity - 1);
    reason[capacity - 1] = 0;
    return LARDER_QPDF_DAMAGED;
}

// A reference to an object that does not exist, or that libqpdf cannot read.
bool isLost(QPDFObjectHandle object) {
    return object.isIndirect() && object.isNull();
}

bool lacksResources(QPDF &pdf) {
    std::vector<QPDFObjectHandle> open;
    for (auto &page : QPDFPageDocumentHelper(pdf).getAllPages()) open.push_back(page.getAttribute("/Resources", false));
    std::set<QPDFObjGen> seen;
    while (!open.empty()) {
        auto resources = open.back();
        open.pop_back();
        if (isLost(resources)) return true;
        if (!resources.isDictionary()) continue;
        if (resources.isIndirect() && !seen.insert(resources.getObjGen()).second) continue;
        for (auto name : {"/XObject", "/Font", "/Pattern"}) {
            auto category = resources.getKey(name);
            if (isLost(category)) return true;
            if (!category.isDictionary()) continue;
            // Unlike getKeys(), the map has entries that are null.
            for (auto &entry : category.getDictAsMap()) {
                auto value = entry.second;
                if (isLost(value)) return true;
                if (value.isIndirect() && !seen.insert(value.getObjGen()).second) continue;
                if (value.isStream()) value = value.getDict();
                if (value.isDictionary()) open.push_back(value.getKey("/Resources"));
            }
        }
    }
    return false;
}

}  // namespace

extern "C" int larder_qpdf_check(const char *path, char *reason, size_t capacity) {
    reason[0] = 0;
    try {
        QPDF pdf;
        pdf.setSuppressWarnings(true);
        pdf.processFile(path);
        DiscardedContents contents;
        for (auto &page : QPDFPageDocumentHelper(pdf).getAllPages()) page.parseContents(&contents);
        QPDFWriter writer(pdf);
        Pl_Discard discard;
        writer.setOutputPipeline(&discard);
        writer.setDecodeLevel(qpdf_dl_all);
        writer.write();
        auto warnings = pdf.getWarnings();
        return warnings.empty() ? LARDER_QPDF_WHOLE
                                : damaged(reason, capacity, warnings.front().getMessageDetail().c_str());
    } catch (const std::bad_alloc &) {
        return LARDER_QPDF_OUT_OF_MEMORY;
    } catch (const std::exception &error) {
        return damaged(reason, capacity, error.what());
    }
}

extern "C" int larder_qpdf_check_resources(const char *path, char *reason, size_t capacity) {
    reason[0] = 0;
    try {
        QPDF pdf;
        pdf.setSuppressWarnings(true);
        pdf.processFile(path);
        if (!lacksResources(pdf)) return LARDER_QPDF_WHOLE;
        return damaged(reason, capacity, "a picture, form, font or pattern is missing or unreadable");
    } catch (const std::bad_alloc &) {
        return LARDER_QPDF_OUT_OF_MEMORY;
    } catch (const std::exception &error) {
        return damaged(reason, capacity, error.what());
    }
}
