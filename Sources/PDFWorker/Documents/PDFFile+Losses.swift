import CQPDF
import MediaFormats

// Parts of a client's document that readers show, and that its pages lose here.
extension PDFFile {
    private typealias Loss = InputNotice.Kind

    /// The most fields of a form that are looked at.
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

    /// Whether labels of pages (ISO 32000-1 12.4.2) say more than their numbers.
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

    /// Whether a field of the form is signed. A signature need not be shown on a page.
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
