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
