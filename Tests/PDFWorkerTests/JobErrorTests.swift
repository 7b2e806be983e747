import MediaFormats
import Testing

@testable import PDFWorker

@Suite struct JobErrorTests {
    @Test("an error names the file that it is about, unless the machine is at fault") func naming() {
        #expect(throws: JobError(.encrypted, input: 2)) { try JobError.naming(2) { throw JobError(.encrypted) } }
        #expect(throws: JobError(.encrypted, input: 1)) {
            try JobError.naming(2) { throw JobError(.encrypted, input: 1) }
        }
        #expect(throws: JobError(.other("disk"))) { try JobError.naming(2) { throw JobError(.other("disk")) } }
        #expect(throws: JobError(.damaged("the picture ends too early"), input: 0)) {
            try JobError.naming(0) { throw PictureHeaderError.truncated }
        }
    }
}
