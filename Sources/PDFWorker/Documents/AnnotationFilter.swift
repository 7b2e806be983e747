import CQPDF

/// Reduces the annotations of a page to their appearances, and links to their web addresses.
struct AnnotationFilter {
    private let file: PDFFile

    init(_ file: PDFFile) {
        self.file = file
    }

    /// Replaces the list of annotations by one of those that are kept.
    ///
    /// - Parameter visit: Receives each kept annotation after its reduction.
    func clean(_ page: PDFFile.Object, visit: (PDFFile.Object) -> Void) throws {
        let handle = file.handle
        let kept = qpdf_oh_new_array(handle)
        defer { file.release(kept) }
        try file.with("/Annots", of: page) { annotations in
            try file.forEachItem(of: annotations) { annotation in
                guard try reduce(annotation) else { return }
                qpdf_oh_append_item(handle, kept, annotation)
                visit(annotation)
            }
        }
        if qpdf_oh_get_array_n_items(handle, kept) > 0 {
            qpdf_oh_replace_key(handle, page, "/Annots", kept)
        } else {
            qpdf_oh_remove_key(handle, page, "/Annots")
        }
        try file.check()
    }

    /// Returns whether an annotation is kept, after reducing it.
    private func reduce(_ annotation: PDFFile.Object) throws -> Bool {
        let handle = file.handle
        guard qpdf_oh_is_dictionary(handle, annotation) != 0, let subtype = file.name("/Subtype", of: annotation),
            KeptKeys.annotations.contains(subtype)
        else { return false }
        let action = try subtype == "/Link" ? webLink(annotation) : nil
        for key in file.keys(of: annotation) where !KeptKeys.ofAnnotations.contains(key) {
            qpdf_oh_remove_key(handle, annotation, key.bytes)
        }
        if let action {
            qpdf_oh_replace_key(handle, annotation, "/A", action)
            file.release(action)
        }
        try file.check()
        return true
    }

    /// Returns a new action that has only the web address of a link; nil for other actions.
    private func webLink(_ link: PDFFile.Object) throws -> PDFFile.Object? {
        guard let address = file.webAddress(ofLink: link) else { return nil }
        let reduced = try file.object("<< /S /URI >>")
        let copy = qpdf_oh_new_string(file.handle, address)
        defer { file.release(copy) }
        qpdf_oh_replace_key(file.handle, reduced, "/URI", copy)
        try file.check()
        return reduced
    }
}

extension PDFFile {
    /// Returns the web address of a link; nil for other links.
    func webAddress(ofLink link: Object) -> String? {
        with("/A", of: link) { action in
            guard qpdf_oh_is_dictionary(handle, action) != 0, name("/S", of: action) == "/URI" else { return nil }
            return with("/URI", of: action) { address in
                guard qpdf_oh_is_string(handle, address) != 0, let text = qpdf_oh_get_utf8_value(handle, address) else {
                    return nil
                }
                let uri = String(cString: text)
                return ["http://", "https://", "mailto:"].contains { uri.lowercased().hasPrefix($0) } ? uri : nil
            }
        }
    }
}
