import CQPDF
import MediaFormats

extension PDFFile {
    /// Returns what is in the document.
    func summary() throws -> PDFDocumentSummary {
        let pages = try (0..<pageCount()).map { index in
            let page = try page(index)
            defer { release(page) }
            return try geometry(of: page).shown
        }
        return PDFDocumentSummary(pages: pages, title: title(), wasEncrypted: isEncrypted)
    }

    /// Whether it is encrypted; with the empty password, because it could be read.
    var isEncrypted: Bool { qpdf_is_encrypted(handle) != 0 }

    /// Whether an owner password restricts what may be done with it.
    var isRestricted: Bool {
        isEncrypted
            && (qpdf_allow_print_high_res(handle) == 0 || qpdf_allow_modify_all(handle) == 0
                || qpdf_allow_extract_all(handle) == 0)
    }

    /// Whether parts of its pages belong to layers (ISO 32000-1 8.11.4).
    var hasLayers: Bool {
        qpdf_oh_is_dictionary(handle, qpdf_oh_get_key(handle, qpdf_get_root(handle), "/OCProperties")) != 0
    }

    /// Copies the layers of a document whose pages were added, so that hidden parts stay hidden.
    ///
    /// - Parameter filter: that which the pages were reduced by.
    func takeLayers(of other: PDFFile, _ filter: PageFilter) throws {
        let layers = qpdf_oh_get_key(other.handle, qpdf_get_root(other.handle), "/OCProperties")
        try filter.cleanLayers(layers)
        let indirect =
            qpdf_oh_is_indirect(other.handle, layers) != 0 ? layers : qpdf_make_indirect_object(other.handle, layers)
        try other.check()
        let copy = qpdf_oh_copy_foreign_object(handle, other.handle, indirect)
        try check()
        qpdf_oh_replace_key(handle, qpdf_get_root(handle), "/OCProperties", copy)
        try check()
    }

    /// Removes a crop box outside of the page, of which poppler draws nothing.
    func removeSenselessCropBox(of page: Object) {
        let boxes = ["/CropBox", "/MediaBox"].map { box in
            with(PDFName(box), of: page) { numbers($0, count: 4) }
        }
        if PageGeometry.isOutside(boxes[0], of: boxes[1]) { qpdf_oh_remove_key(handle, page, "/CropBox") }
    }

    /// Returns the size and the rotation of a page.
    func geometry(of page: Object) throws -> PageGeometry {
        func box(_ key: String) -> [Double]? { numbers(qpdf_oh_get_key(handle, page, key), count: 4) }
        let rotate = qpdf_oh_get_key(handle, page, "/Rotate")
        let unit = qpdf_oh_get_key(handle, page, "/UserUnit")
        let geometry = PageGeometry(
            mediaBox: box("/MediaBox"),
            cropBox: box("/CropBox"),
            rotate: qpdf_oh_is_integer(handle, rotate) != 0 ? Int(qpdf_oh_get_int_value(handle, rotate)) : 0,
            userUnit: qpdf_oh_is_number(handle, unit) != 0 ? qpdf_oh_get_numeric_value(handle, unit) : 1
        )
        try check()
        return geometry
    }

    /// Rotates a page clockwise, in addition to its rotation.
    func rotate(_ page: Object, by degrees: Int) throws {
        let rotation = PageGeometry.normalized(try geometry(of: page).rotation + PageGeometry.normalized(degrees))
        qpdf_oh_replace_key(handle, page, "/Rotate", qpdf_oh_new_integer(handle, Int64(rotation)))
        try check()
    }
}
