import CQPDF
import MediaFormats

extension PDFFile {
    /// Returns the pages and the title of the document.
    func summary() throws -> PDFDocumentSummary {
        let pages = try (0..<pageCount()).map { index in
            let page = try page(index)
            defer { release(page) }
            return try geometry(of: page).shown
        }
        return PDFDocumentSummary(pages: pages, title: title(), wasEncrypted: isEncrypted)
    }

    /// Whether it is encrypted. Its password is empty, because it could be read.
    var isEncrypted: Bool { qpdf_is_encrypted(handle) != 0 }

    /// Whether an owner password restricts printing, changes or extraction.
    var isRestricted: Bool {
        isEncrypted
            && (qpdf_allow_print_high_res(handle) == 0 || qpdf_allow_modify_all(handle) == 0
                || qpdf_allow_extract_all(handle) == 0)
    }

    /// Whether parts of its pages belong to layers (ISO 32000-1 8.11.4).
    var hasLayers: Bool {
        qpdf_oh_is_dictionary(handle, qpdf_oh_get_key(handle, qpdf_get_root(handle), "/OCProperties")) != 0
    }

    /// Copies the layers of a document from which pages were added, so that hidden parts remain hidden.
    ///
    /// - Parameter filter: The filter that has reduced the pages.
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

    /// Removes a crop box outside of the page, because poppler would draw an empty page.
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

/// The size and rotation of a page, from its dictionary (ISO 32000-1 7.7.3.3, 14.11.2).
struct PageGeometry: Equatable {
    /// US Letter, which readers assume for a page without a valid size.
    static let fallback = [0.0, 0, 612, 792]

    /// Width before rotation, in points.
    let width: Double
    /// Height before rotation, in points.
    let height: Double
    /// 0, 90, 180 or 270, clockwise.
    let rotation: Int

    init(mediaBox: [Double]?, cropBox: [Double]?, rotate: Int, userUnit: Double) {
        let media = Self.ordered(mediaBox) ?? Self.fallback
        let shown = Self.part(of: media, in: cropBox) ?? media
        let unit = userUnit.isFinite && userUnit > 0 && userUnit <= 75_000 ? userUnit : 1
        width = (shown[2] - shown[0]) * unit
        height = (shown[3] - shown[1]) * unit
        rotation = Self.normalized(rotate)
    }

    /// Whether a crop box contains no part of the page. Readers then show the whole page.
    static func isOutside(_ cropBox: [Double]?, of mediaBox: [Double]?) -> Bool {
        part(of: ordered(mediaBox) ?? fallback, in: cropBox) == nil
    }

    /// Returns the part of the media box within the crop box; nil if there is none.
    private static func part(of media: [Double], in cropBox: [Double]?) -> [Double]? {
        let crop = ordered(cropBox) ?? media
        return ordered(
            [max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3])],
            keepingOrder: true
        )
    }

    /// The size of the page after its rotation.
    var shown: PDFPage {
        let isTurned = rotation == 90 || rotation == 270
        return PDFPage(
            width: Self.rounded(isTurned ? height : width),
            height: Self.rounded(isTurned ? width : height),
            rotation: rotation
        )
    }

    /// Returns a multiple of 90 as 0, 90, 180 or 270, and 0 for any other number.
    static func normalized(_ degrees: Int) -> Int {
        let turn = degrees % 360
        return turn % 90 == 0 ? (turn + 360) % 360 : 0
    }

    /// Returns a box with its lower left corner first; nil if it has no area.
    private static func ordered(_ box: [Double]?, keepingOrder: Bool = false) -> [Double]? {
        guard let box, box.count == 4, box.allSatisfy({ $0.isFinite && abs($0) < 1e7 }) else { return nil }
        let ordered =
            keepingOrder ? box : [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]
        return ordered[2] > ordered[0] && ordered[3] > ordered[1] ? ordered : nil
    }

    /// Rounds to thousandths of a point, because smaller parts are rounding errors.
    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}

// Parts of a client's document that readers show and that its pages lose in Larder.
extension PDFFile {
    private typealias Loss = InputNotice.Kind

    /// Largest number of fields of a form that are checked.
    private static let maximumFields = 100_000

    /// Returns the losses, each once.
    func losses() throws -> [InputNotice.Kind] {
        var losses: Set<Loss> = []
        let root = qpdf_get_root(handle)
        func has(_ key: PDFName, in part: PDFName) -> Bool {
            with(part, of: root) {
                qpdf_oh_is_dictionary(handle, $0) != 0 && qpdf_oh_has_key(handle, $0, key.bytes) != 0
            }
        }
        if has("/First", in: "/Outlines") { losses.insert(.bookmarksRemoved) }
        if has("/EmbeddedFiles", in: "/Names") { losses.insert(.attachmentsRemoved) }
        if with("/PageLabels", of: root, { isLabelling($0) }) { losses.insert(.pageLabelsRemoved) }
        if hasSignedField() { losses.insert(.signaturesRemoved) }
        for index in 0..<(try pageCount()) {
            let page = try page(index)
            defer { release(page) }
            with("/Annots", of: page) { annotations in
                forEachItem(of: annotations) { annotation in
                    if let loss = loss(of: annotation) { losses.insert(loss) }
                }
            }
            try check()
        }
        return Loss.allCases.filter(losses.contains)
    }

    private func loss(of annotation: Object) -> Loss? {
        guard qpdf_oh_is_dictionary(handle, annotation) != 0, let kind = name("/Subtype", of: annotation) else {
            return nil
        }
        switch kind {
        case "/Widget":
            guard name(inherited("/FT", of: annotation)) == "/Sig" else { return .fieldsRemoved }
            return isSigned(annotation) ? .signaturesRemoved : nil
        case "/Link":
            let hasTarget = keys(of: annotation).contains { $0 == "/A" || $0 == "/Dest" }
            return hasTarget && webAddress(ofLink: annotation) == nil ? .linksRemoved : nil
        case "/FileAttachment": return .attachmentsRemoved
        case "/Sound", "/Movie", "/Screen", "/3D", "/RichMedia": return .multimediaRemoved
        default: return nil
        }
    }

    /// Whether labels of pages (ISO 32000-1 12.4.2) differ from their numbers.
    private func isLabelling(_ labels: Object) -> Bool {
        guard qpdf_oh_is_dictionary(handle, labels) != 0 else { return false }
        return with("/Nums", of: labels) { ranges in
            guard qpdf_oh_is_array(handle, ranges) != 0, qpdf_oh_get_array_n_items(handle, ranges) == 2 else {
                return true
            }
            let range = qpdf_oh_get_array_item(handle, ranges, 1)
            defer { release(range) }
            guard qpdf_oh_is_dictionary(handle, range) != 0 else { return false }
            let start = with("/St", of: range) {
                qpdf_oh_is_integer(handle, $0) != 0 ? qpdf_oh_get_int_value(handle, $0) : 1
            }
            return name("/S", of: range) != "/D" || start != 1 || qpdf_oh_has_key(handle, range, "/P") != 0
        }
    }

    /// Whether a field of the form is signed. A signature may be invisible.
    private func hasSignedField() -> Bool {
        let form = qpdf_oh_get_key(handle, qpdf_get_root(handle), "/AcroForm")
        defer { release(form) }
        guard qpdf_oh_is_dictionary(handle, form) != 0 else { return false }
        var open: [Object] = []
        var (seen, count): (Set<Int32>, Int) = ([], 0)
        func push(_ fields: Object) {
            forEachItem(of: fields) { field in
                count += 1
                let number = qpdf_oh_get_object_id(handle, field)
                guard qpdf_oh_is_dictionary(handle, field) != 0, count < Self.maximumFields,
                    number == 0 || seen.insert(number).inserted
                else { return }
                open.append(qpdf_oh_new_object(handle, field))
            }
        }
        defer { for field in open { release(field) } }
        with("/Fields", of: form, push)
        while let field = open.popLast() {
            defer { release(field) }
            if name(inherited("/FT", of: field)) == "/Sig", isSigned(field) { return true }
            with("/Kids", of: field, push)
        }
        return false
    }

    private func isSigned(_ field: Object) -> Bool {
        let value = inherited("/V", of: field)
        defer { release(value) }
        return qpdf_oh_is_dictionary(handle, value) != 0
    }
}
