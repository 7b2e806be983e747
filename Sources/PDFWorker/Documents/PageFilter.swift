import CQPDF
import MediaFormats

/// Reduces pages to what is shown of them, before they are copied into a document.
///
/// What is kept is listed in ``KeptKeys``; everything else goes: actions, scripts, attachments, multimedia, metadata,
/// references to other files. A dictionary that is reached from a page, of whatever kind, keeps the listed keys only.
final class PageFilter {
    typealias Object = PDFFile.Object

    /// What the keys of a dictionary mean.
    enum Meaning {
        /// They are keys of ISO 32000-1.
        case keys
        /// They are names that the document has given.
        case names
        /// They are the categories of a resource dictionary.
        case resources
        /// They are those of an annotation's appearances.
        case appearances
    }

    private let file: PDFFile
    private let keepsMetadata: Bool
    private let resources: UsedResources
    /// Numbers of the objects that were visited.
    private var seen: Set<Int32> = []
    private var keepsSeenLayersOnly = false
    private var open: [(object: Object, meaning: Meaning)] = []

    private var handle: qpdf_data? { file.handle }

    /// Creates a filter for the pages of a document.
    ///
    /// - Parameter keepsMetadata: whether photos keep their metadata.
    /// - Throws: ``JobError`` if the pages cannot be read.
    init(_ file: PDFFile, keepsMetadata: Bool = false) throws {
        self.file = file
        self.keepsMetadata = keepsMetadata
        resources = UsedResources(file)
        // What refers to a page does not reduce it: pages keep other keys.
        for index in 0..<(try file.pageCount()) {
            let page = try file.page(index)
            seen.insert(qpdf_oh_get_object_id(file.handle, page))
            file.release(page)
        }
    }

    /// Reduces a page.
    ///
    /// - Throws: ``JobError`` `damaged` if a part of its content, or something that it draws, is missing.
    func clean(_ page: Object) throws {
        guard qpdf_oh_is_dictionary(handle, page) != 0 else { throw JobError.damaged("a page is missing") }
        for key in file.keys(of: page) where !KeptKeys.ofPages.contains(key) {
            qpdf_oh_remove_key(handle, page, key.bytes)
        }
        file.removeSenselessCropBox(of: page)
        try checkContents(of: page)
        try cleanAnnotations(of: page)
        try resources.reduce(page)
        for key in file.keys(of: page) where !["/Parent", "/Contents", "/Annots"].contains(key) { push(key, of: page) }
        try visitOpen()
    }

    private func cleanAnnotations(of page: Object) throws {
        try AnnotationFilter(file).clean(page) { annotation in
            let number = qpdf_oh_get_object_id(handle, annotation)
            if number != 0 { seen.insert(number) }
            for key in file.keys(of: annotation) where key != "/A" { push(key, of: annotation) }
        }
    }

    private func visitOpen() throws {
        while let (object, meaning) = open.popLast() {
            defer { file.release(object) }
            try visit(object, meaning)
        }
    }

    /// Reduces the layers of the document to those of the pages that were reduced.
    func cleanLayers(_ layers: Object) throws {
        keepsSeenLayersOnly = true
        push(qpdf_oh_new_object(handle, layers), .keys)
        try visitOpen()
    }

    /// The content of a page is a stream or several, each of which must be there.
    private func checkContents(of page: Object) throws {
        let contents = qpdf_oh_get_key(handle, page, "/Contents")
        defer { file.release(contents) }
        try requirePresent(contents)
        if qpdf_oh_is_stream(handle, contents) != 0 { return try visit(contents, .keys) }
        guard qpdf_oh_is_array(handle, contents) != 0 else { return }
        for index in 0..<qpdf_oh_get_array_n_items(handle, contents) {
            let part = qpdf_oh_get_array_item(handle, contents, index)
            defer { file.release(part) }
            try requirePresent(part)
            if qpdf_oh_is_stream(handle, part) != 0 { try visit(part, .keys) }
        }
        try file.check()
    }

    /// A reference to an object that does not exist is null.
    private func requirePresent(_ object: Object) throws {
        if file.isLost(object) { throw JobError.damaged("a part of a page is missing") }
    }

    private func visit(_ object: Object, _ meaning: Meaning) throws {
        let number = qpdf_oh_get_object_id(handle, object)
        if number != 0, !seen.insert(number).inserted { return }
        if qpdf_oh_is_array(handle, object) != 0 {
            if keepsSeenLayersOnly { removeUnseenLayers(from: object) }
            for index in 0..<qpdf_oh_get_array_n_items(handle, object) {
                push(qpdf_oh_get_array_item(handle, object, index), .keys)
            }
        } else if qpdf_oh_is_stream(handle, object) != 0 {
            let dictionary = qpdf_oh_get_dict(handle, object)
            defer { file.release(dictionary) }
            try visitDictionary(dictionary, .keys)
            if !keepsMetadata { try file.removeMetadata(ofPicture: object, dictionary) }
        } else if qpdf_oh_is_dictionary(handle, object) != 0 {
            try visitDictionary(object, meaning)
        }
        try file.check()
    }

    private func removeUnseenLayers(from array: Object) {
        for index in (0..<qpdf_oh_get_array_n_items(handle, array)).reversed() {
            let item = qpdf_oh_get_array_item(handle, array, index)
            defer { file.release(item) }
            guard qpdf_oh_is_dictionary(handle, item) != 0, file.name("/Type", of: item) == "/OCG",
                !seen.contains(qpdf_oh_get_object_id(handle, item))
            else { continue }
            qpdf_oh_erase_item(handle, array, index)
        }
    }

    private func visitDictionary(_ dictionary: Object, _ meaning: Meaning) throws {
        for key in file.keys(of: dictionary) {
            switch meaning {
            case .keys where !mayStay(key, in: dictionary), .resources where KeptKeys.ofResources[key] == nil,
                .appearances where !["/N", "/D", "/R"].contains(key):
                qpdf_oh_remove_key(handle, dictionary, key.bytes)
            case .keys: push(key, of: dictionary)
            case .resources: push(qpdf_oh_get_key(handle, dictionary, key.bytes), KeptKeys.ofResources[key] ?? .names)
            case .names: push(qpdf_oh_get_key(handle, dictionary, key.bytes), .keys)
            case .appearances: push(qpdf_oh_get_key(handle, dictionary, key.bytes), .names)
            }
        }
    }

    /// Whether a key of a dictionary of any kind stays. An XObject of PostScript loses its subtype, so that no reader
    /// takes it for one.
    private func mayStay(_ key: PDFName, in dictionary: Object) -> Bool {
        guard KeptKeys.ofAll.contains(key) else { return false }
        return key != "/Subtype" || file.name(key, of: dictionary) != "/PS"
    }

    private func push(_ key: PDFName, of dictionary: Object) {
        push(qpdf_oh_get_key(handle, dictionary, key.bytes), KeptKeys.meaning(of: key))
    }

    private func push(_ object: Object, _ meaning: Meaning) {
        if file.isContainer(object) { open.append((object, meaning)) } else { file.release(object) }
    }
}
