//! Between facts and stored records: encoding, commitments, moving bodies into blobs and back.

