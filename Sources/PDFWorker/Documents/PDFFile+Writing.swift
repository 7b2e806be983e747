import CQPDF
import MediaFormats

extension PDFFile {
    /// Writes the document. The same document gives the same bytes, its identity included.
    ///
    /// - Parameter progress: receives the percentage from time to time.
    func write(to path: String, progress: @escaping (Int) -> Void) throws {
        if try writesNumberSignsUnescaped() { try escapeNumberSigns() }
        qpdf_init_write(handle, path)
        try check()
        qpdf_set_decode_level(handle, qpdf_dl_none)
        qpdf_set_compress_streams(handle, QPDF_BOOL(0))
        qpdf_set_preserve_encryption(handle, QPDF_BOOL(0))
        qpdf_set_deterministic_ID(handle, QPDF_BOOL(1))
        // Samples of 16 bits need this version.
        qpdf_set_minimum_pdf_version(handle, "1.5")
        let report = Report(progress)
        try withExtendedLifetime(report) {
            qpdf_register_progress_reporter(
                handle,
                { percent, context in
                    guard let context else { return }
                    Unmanaged<Report>.fromOpaque(context).takeUnretainedValue().progress(Int(percent))
                },
                Unmanaged.passUnretained(report).toOpaque()
            )
            qpdf_write(handle)
            try check()
        }
        try Self.requireComplete(path)
    }

    private final class Report {
        let progress: (Int) -> Void

        init(_ progress: @escaping (Int) -> Void) {
            self.progress = progress
        }
    }
}

extension PDFFile {
    /// Whether libqpdf has the defect of 11.3, which Debian 12 has: it writes `/A#23B` as `/A#B`, a different name.
    private func writesNumberSignsUnescaped() throws -> Bool {
        let name = qpdf_oh_new_name(handle, "/#")
        defer { release(name) }
        return qpdf_oh_unparse(handle, name).map { String(cString: $0) } == "/#"
    }

    /// Escapes the number signs in all names of the document, for the library to write them as they are. To be done
    /// once, at the end: the library takes the escape for a part of the name.
    private func escapeNumberSigns() throws {
        var seen: Set<Int32> = []
        var open = [qpdf_get_root(handle)]
        func replace(_ value: Object, by put: (Object) -> Void) {
            if let name = name(value)?.escaped {
                let escaped = qpdf_oh_new_name(handle, name.bytes)
                put(escaped)
                release(escaped)
            } else if isContainer(value) {
                return open.append(value)
            }
            release(value)
        }
        while let object = open.popLast() {
            defer { release(object) }
            let number = qpdf_oh_get_object_id(handle, object)
            if number != 0, !seen.insert(number).inserted { continue }
            if qpdf_oh_is_array(handle, object) != 0 {
                for index in 0..<qpdf_oh_get_array_n_items(handle, object) {
                    replace(qpdf_oh_get_array_item(handle, object, index)) {
                        qpdf_oh_set_array_item(handle, object, index, $0)
                    }
                }
            } else if qpdf_oh_is_stream(handle, object) != 0 {
                open.append(qpdf_oh_get_dict(handle, object))
            } else {
                for key in keys(of: object) {
                    replace(qpdf_oh_get_key(handle, object, key.bytes)) {
                        qpdf_oh_replace_key(handle, object, key.bytes, $0)
                    }
                    guard let name = key.escaped else { continue }
                    with(key, of: object) { qpdf_oh_replace_key(handle, object, name.bytes, $0) }
                    qpdf_oh_remove_key(handle, object, key.bytes)
                }
            }
            try check()
        }
    }
}
